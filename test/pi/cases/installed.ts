/** What a user does first: the packed package is installed with `pi install`, and Pi is started. Nothing of this checkout is loaded. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { client, makeHome, ROOT, Scope } from "../../harness/index.ts";
import { PiRpc, PROBE } from "../sessions/pi-rpc.ts";
import type { Stage } from "../stage.ts";
import { obliging } from "./sessions.ts";
import type { Case } from "./case.ts";

/** What npm needs to fetch nothing that it has, and to run nothing. */
const QUIET = {
  npm_config_prefer_offline: "true",
  npm_config_ignore_scripts: "true",
  npm_config_audit: "false",
  npm_config_fund: "false",
};
/** Of better-sqlite3, which a user's npm fetches or builds: the one that was built for this checkout will do. */
const BINARY = "node_modules/better-sqlite3/build/Release/better_sqlite3.node";

export const installed: readonly Case[] = [
  {
    name: "the packed tarball is installed with `pi install`: extension, tool, command and skills are there, and the server starts from it",
    model: obliging,
    async run(stage) {
      const scope = new Scope();
      try {
        const packed = pack(stage);
        const said = pi(stage, "install", `npm:holdpoint@file:${packed}`);
        assert.match(said, /Installed npm:holdpoint/);
        const where = join(stage.agentDir, "npm");
        if (existsSync(join(ROOT, BINARY))) {
          mkdirSync(dirname(join(where, BINARY)), { recursive: true });
          cpSync(join(ROOT, BINARY), join(where, BINARY));
        }
        const home = makeHome(scope);
        const session = new PiRpc(scope, { stage, home, extensions: [PROBE] });
        await session.prompt("/workflow list");
        assert.match(await session.notice(/plan-approval/), /monitor/);
        await session.prompt("/workflow-channel status");
        await session.notice(/No channel is configured|^pi: /m);
        const from = await client(scope, home);
        scope.add(() => from.call("server.stop", {}));
        const { pid } = await from.call("server.status", {});
        assert.match(
          readFileSync(`/proc/${pid}/cmdline`, "latin1"),
          new RegExp(join(where, "node_modules/holdpoint/")),
        );
        const { data } = await session.send("get_commands");
        const names = (data as { commands: { name: string }[] }).commands.map(({ name }) => name);
        for (const name of ["workflow", "workflow-channel", "resource-manager", "skill:holdpoint", "skill:monitor"])
          assert.ok(names.includes(name), `${name} is missing: ${names.join(", ")}`);
        await session.turn('CALL {"action":"list"}');
        assert.ok(stage.model.requests[0]?.tools.includes("workflow"));
        assert.match(stage.model.requests.at(-1)?.last ?? "", /plan-approval/);
        assert.equal(await session.quit(), 0);
      } finally {
        await scope.close();
      }
    },
  },
];

/** The tarball's path. */
function pack(stage: Stage): string {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", stage.folder];
  const said = execFileSync("npm", args, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const [packed] = JSON.parse(said) as { filename: string }[];
  return join(stage.folder, packed?.filename ?? assert.fail("nothing was packed"));
}

function pi(stage: Stage, ...args: readonly string[]): string {
  const [node = "", ...first] = stage.command;
  const env = { ...process.env, ...QUIET, PI_CODING_AGENT_DIR: stage.agentDir };
  return execFileSync(node, [...first, ...args], {
    cwd: stage.cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}
