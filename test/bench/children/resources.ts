/**
 * Child process: fills a home with managed resources through the store, and measures how many requests for a pass it takes in a second.
 * Arguments: home, JSON of `ResourceSeed`. Prints the rate.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "../../../src/contracts/ids.ts";
import { openStore } from "../../../src/state/store.ts";

export interface ResourceSeed {
  readonly projectPath: string;
  /** The manager's file. */
  readonly source: string;
  /** Resources that the server reconciles, and those of a lane that it has not. */
  readonly live: number;
  readonly listed: number;
  /** Requests for a pass, over a tenth as many resources. */
  readonly enqueues: number;
}

const [home = "", json = "{}"] = process.argv.slice(2);
const { enqueues, listed, live, projectPath, source } = JSON.parse(json) as ResourceSeed;
const store = openStore({ path: join(home, "state.sqlite"), clock: Date });
const content = readFileSync(source);
const files = [{ path: source, sha256: sha256Hex(content), content }];
const actor = { type: "human", id: "uid:0" } as const;

async function fill(manager: string, count: number, lane: string): Promise<void> {
  const of = {
    projectPath,
    manager,
    spec: {},
    initialStatus: {},
    lane,
    source,
    expectedVersion: null,
    receipt: null,
    actor,
  };
  for (let from = 0; from < count; from += 256) {
    const page = Array.from({ length: Math.min(256, count - from) }, (_, index) =>
      store.managed.apply({ ...of, key: `key-${from + index}`, sources: lane === "runner" ? files : [] }),
    );
    // oxlint-disable-next-line no-await-in-loop -- a batch at a time
    await Promise.all(page);
  }
}

await fill("page", live, "runner");
await fill("listed", listed, "nobody");
const started = performance.now();
for (let from = 0; from < enqueues; from += 1_024) {
  const asked = Array.from({ length: Math.min(1_024, enqueues - from) }, (_, index) => {
    const key = `key-${(from + index) % Math.max(1, Math.floor(enqueues / 10))}`;
    return store.managed.enqueue({ projectPath, manager: "listed", key, reason: "bench" });
  });
  // oxlint-disable-next-line no-await-in-loop -- as many as a busy source has on their way
  await Promise.all(asked);
}
const rate = (enqueues * 1_000) / (performance.now() - started);
store.close();
process.stdout.write(String(rate));
