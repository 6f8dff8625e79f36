/** What the tests of managed resources share: a project, a manager, and a lane that the test plays. */
import type { JsonValue } from "../../../src/contracts/protocol/shared.ts";
import type { ClaimedResource, Store } from "../../../src/state/store.ts";
import { openTemp, takeEpoch, type Opened } from "../fixture.ts";

export const LANE = "test";
export const actor = { type: "human", id: "uid:1" } as const;

/** The resource `key` of the only manager. */
export function ref(key: string, projectPath = "/project"): { projectPath: string; manager: string; key: string } {
  return { projectPath, manager: "things", key };
}

export interface Shop extends Opened {
  readonly epoch: number;
  apply(key: string, spec?: JsonValue, change?: Partial<Parameters<Store["managed"]["apply"]>[0]>): Promise<Applied>;
  claim(held?: readonly number[]): Promise<ClaimedResource | null>;
  /** A claim that must be there. */
  due(): Promise<ClaimedResource>;
}
type Applied = Awaited<ReturnType<Store["managed"]["apply"]>>["result"];

export async function openShop(options: Parameters<typeof openTemp>[0] = {}): Promise<Shop> {
  const opened = openTemp(options);
  const { store } = opened;
  const epoch = await takeEpoch(store);
  let passes = 0;
  const shop: Shop = {
    ...opened,
    epoch,
    apply: async (key, spec = { key }, change = {}) => {
      const done = await store.managed.apply({
        ...ref(key),
        spec,
        initialStatus: { phase: "new" },
        lane: LANE,
        source: "builtin:things@1",
        sources: [],
        expectedVersion: null,
        receipt: null,
        actor,
        ...change,
      });
      return done.result;
    },
    claim: (held = []) =>
      store.managed.claim({ lane: LANE, reconcileId: `pass-${(passes += 1)}`, serverEpoch: epoch, held }),
    due: async () => {
      const claimed = await shop.claim();
      if (claimed === null) throw new Error("nothing is due");
      return claimed;
    },
  };
  return shop;
}
