/** Syncs of the database during a run of 100 pure steps, counted by the kernel's own word (strace). */
import { mkdirSync, readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { type Bench, type Part } from "../bench.ts";
import { STEPS_WORKFLOW } from "../children/steps.ts";
import { Ledger, makeBareHome, makeWorkflow, openClient, Server } from "../service.ts";
import { runSteps } from "./steps.ts";

/** Only these calls stop the process, so that its pace stays what it is. */
const STRACE = ["strace", "-f", "--seccomp-bpf", "-ttt", "-y", "-e", "trace=fsync,fdatasync"];

export const fsyncs: Part = {
  name: "fsyncs",
  keys: ["fsyncs_per_100_steps"],
  async run(bench: Bench) {
    if (spawnSync("strace", ["-f", "--seccomp-bpf", "true"]).status !== 0) {
      bench.say("fsyncs_per_100_steps: strace is missing or may not trace here");
      return;
    }
    const home = join(bench.folder, "fsyncs");
    mkdirSync(home, { mode: 0o700 });
    makeBareHome(home);
    const workflow = makeWorkflow(join(bench.folder, "project"), "steps", STEPS_WORKFLOW);
    const trace = join(bench.folder, "fsyncs.trace");
    const server = await Server.start(home, { ...bench, before: [...STRACE, "-o", trace] });
    const client = await openClient(home);
    const ledger = new Ledger(home);
    await runSteps(client, ledger, workflow, 1_000);
    const spans = [];
    for (let round = 0; round < bench.rounds; round += 1) spans.push(await runSteps(client, ledger, workflow, 100));
    client.close();
    ledger.close();
    await server.stop();
    const times = [...readFileSync(trace, "utf8").matchAll(/^\d+ +(\d+\.\d+) f(?:data)?sync\(\d+<([^>]+)>/gm)]
      .filter(([, , path]) => path?.includes("state.sqlite"))
      .map(([, seconds]) => Number(seconds) * 1_000);
    if (times.length === 0) throw new Error("no sync was seen");
    // The first sync after the event of the start belongs to its commit, which the run has not to pay for.
    const firstAfter = (at: number): number => times.findIndex((time) => time >= at);
    bench.report(
      "fsyncs_per_100_steps",
      spans.map(({ from, to }) => firstAfter(to) - firstAfter(from)),
    );
  },
};
