// `holdpoint server …`, and what is said when there is none.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT } from "../../src/cli/exit-codes.ts";
import { NOON, serverStatus } from "../client/views.ts";
import { always, serve, on, fits } from "./fake.ts";
import { holdpoint } from "./run-in-process.ts";

describe("server", () => {
  test("status tells pid, runs, waiting decisions, channels with their last error, and what died", async () => {
    const error = {
      code: "HP203",
      kind: "tokenFile",
      message: "The token file is readable by others.",
      remedy: "chmod 600",
    };
    const status = serverStatus({
      resources: {
        count: 3,
        queued: 2,
        passes: [{ manager: "pages", key: "front\u001b[2J", pid: 77, startedAt: NOON }],
        idleRunners: 1,
      },
      channels: [
        {
          channel: "telegram:default",
          state: "down",
          pid: null,
          account: null,
          lastPollAt: null,
          pendingUpdates: null,
          queued: 2,
          ambiguous: 1,
          doubts: { oldestAt: NOON, ended: 3, medianMs: 40_000, longestMs: 3_900_000 },
          places: [
            { place: "1001", deadAt: NOON, error: "Forbidden: bot was blocked by the user", movedTo: null },
            { place: "-12", deadAt: null, error: null, movedTo: "-10012" },
          ],
          deafSince: NOON,
          restarts: 3,
          error,
        },
      ],
      crashes: [{ kind: "runner", at: NOON, outcome: "SIGKILL", diagnostic: "line one\nout of memory\n" }],
    });
    const { code, out } = await on(await always(status), ["server", "status"]);
    expect(code).toBe(0);
    for (const words of [
      "pid 4242",
      "1 running, 2 waiting",
      "2 decisions",
      "Resources: 3, of which 2 wait for a pass or are in one; 1 idle runner",
      "In a pass: pages front",
      "telegram:default: down",
      "HP203",
      "chmod 600",
      "restarted 3 times",
      "out of memory",
      // How long nobody knew, and which chats are in trouble.
      "in doubt since",
      "3 ended in 30 days, after 40 s usually, 1 h 5 min",
      "Chat 1001 cannot be reached",
      "Chat -12 is -10012 now",
    ]) {
      expect(out.replace(/\s+/g, " ")).toContain(words);
    }
    fits(out);
  });

  test("reload has the configuration read again", async () => {
    const server = await always({ loaded: true, error: null });
    const { code, out } = await on(server, ["server", "reload"]);
    expect(code).toBe(0);
    expect(out).toContain("read again");
    expect(server.requests.map((request) => request.operation)).toEqual(["server.reload"]);
  });

  test("a configuration that reload refuses is an error that says what stays in use", async () => {
    const error = { code: "HP201", kind: "configInvalid", message: "people: wrong.", remedy: "Correct it." };
    const { code, err } = await on(await always({ loaded: false, error }), ["server", "reload"]);
    expect(code).toBe(EXIT.config.code);
    expect(err).toBe("The last good configuration stays in use. people: wrong. (HP201)\nTo do: Correct it.\n");
  });

  test("a server that is silent is not called absent", async () => {
    const server = await serve(() => undefined, { hello: null });
    writeFileSync(join(server.home, "server.json"), JSON.stringify({ pid: process.pid }));
    const { code, out, err } = await on(server, ["server", "status"]);
    expect(code).toBe(EXIT.unavailable.code);
    expect(out).toBe("");
    expect(err.replace(/\s+/g, " ")).toContain(`pid ${process.pid} holds ${server.home} but does not answer`);
  });

  test("status, reload and stop never start a server", async () => {
    const server = await always({});
    await server.down();
    const status = await on(server, ["server", "status", "--json"]);
    expect(status.code).toBe(EXIT.unavailable.code);
    expect(JSON.parse(status.out)).toMatchObject({ ok: true, result: { running: false, home: server.home } });
    expect((await on(server, ["server", "reload"])).code).toBe(EXIT.unavailable.code);
    const stop = await on(server, ["server", "stop"]);
    expect(stop.code).toBe(0);
    expect(stop.out).toContain("No server runs");
  });

  test("--no-start leaves a missing server missing", async () => {
    const server = await always({});
    await server.down();
    const { code, err } = await on(server, ["runs", "--no-start"]);
    expect(code).toBe(EXIT.unavailable.code);
    expect(err).toContain("(HP802)");
  });

  test("a server whose socket was removed is not called absent: status and stop name its process", async () => {
    const server = await always({});
    await server.down();
    writeFileSync(join(server.home, "server.json"), JSON.stringify({ pid: process.pid }));
    for (const command of ["status", "stop"]) {
      const { code, out, err } = await on(server, ["server", command]);
      expect(code, command).toBe(EXIT.unavailable.code);
      expect(out).toBe("");
      expect(err.replace(/\s+/g, " ")).toContain(`pid ${process.pid} holds ${server.home}, but nothing listens`);
      expect(err.replace(/\s+/g, " ")).toContain(`kill ${process.pid}`);
    }
  });

  test("a home that cannot be a folder is refused as such when a server is started in it", async () => {
    const server = await always({});
    const file = join(server.home, "file");
    writeFileSync(file, "");
    const { code, err } = await holdpoint(["server", "start", "--home", file]);
    expect(code).toBe(EXIT.config.code);
    expect(err).toContain("(HP803)");
  });

  test("an empty --home does not lead to the home of everyday", async () => {
    const { code, err } = await holdpoint(["server", "stop", "--home", ""]);
    expect(code).toBe(EXIT.usage.code);
    expect(err).toContain("--home is empty");
  });
});
