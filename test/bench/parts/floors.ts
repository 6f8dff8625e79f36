/** What machine and store can do at best; the other figures are judged by these, of the same run. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Bench, type Part, runChild } from "../bench.ts";
import type { Floors } from "../children/floors.ts";

export const floors: Part = {
  name: "floors",
  keys: ["commit_floor_per_s", "floor_steps_per_s_100", "floor_steps_per_s_10000"],
  async run(bench: Bench) {
    const folder = join(bench.folder, "floors");
    mkdirSync(folder);
    const { commits, steps100, steps10000 } = JSON.parse(
      await runChild(bench, "test/bench/children/floors.ts", folder, String(bench.rounds)),
    ) as Floors;
    bench.report("commit_floor_per_s", commits);
    bench.report("floor_steps_per_s_100", steps100);
    bench.report("floor_steps_per_s_10000", steps10000);
  },
};
