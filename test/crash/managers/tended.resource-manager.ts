// A manager that says everything a pass can say: it cleans up after itself, is too slow once and fails, changes something outside, has a
// study made, tunes it while it works, cancels another, and leaves its process unfit for another pass once.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineResourceManager } from "holdpoint/resource-managers";

interface Spec {
  /** Folder of the study and of this manager's own files: `rolled-out`, `at-gate`. */
  readonly folder: string;
  /** Folder of the second study. */
  readonly next: string;
  /** The study's file. */
  readonly workflow: string;
}
interface Status {
  readonly phase: "new" | "studying" | "tuned" | "done";
}

const STUDY = "study:1";
/** Asked for when the first has ended; it is still at work when the resource is deleted. */
const SUPERSEDED = "study:2";

export default defineResourceManager<Spec, Status>({
  name: "tended",
  timeoutMs: 1_000,
  initialStatus: () => ({ phase: "new" }),
  async reconcile(ctx, { metadata, spec, status }) {
    /** True the first time, over the deaths of the process. */
    const first = (what: string): boolean => {
      const marker = join(spec.folder, `first-${what}`);
      if (existsSync(marker)) return false;
      writeFileSync(marker, "");
      return true;
    };
    const { phase } = status.resourceManagerStatus;
    if (metadata.deletionTimestamp !== undefined) {
      await ctx.workflows.cancel({ requestKey: SUPERSEDED, reason: "Nobody wants it any more." });
      await ctx.finalizers.remove("outside");
      return ctx.settled();
    }
    await ctx.finalizers.add("outside");
    if (first("slowness")) {
      await new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve(), { once: true }));
      throw new Error("It was too slow, as it should be.");
    }
    const file = join(spec.folder, "rolled-out");
    await ctx.effects.ensure({
      key: "roll-out:1",
      kind: "roll-out",
      request: { version: 1 },
      observe: () => ({ applied: existsSync(file) && readFileSync(file, "utf8") !== "" }),
      apply: () => appendFileSync(file, "rolled out\n"),
    });
    const { folder, workflow } = spec;
    const run = await ctx.workflows.ensure({ requestKey: STUDY, workflow, input: { title: "tended", folder } });
    if (run.state === "succeeded") {
      const input = { title: "superseded", folder: spec.next };
      await ctx.workflows.ensure({ requestKey: SUPERSEDED, workflow, input });
      return ctx.settled({ resourceManagerStatus: { phase: "done" } });
    }
    if (phase === "tuned") return ctx.settled();
    if (!existsSync(join(folder, "at-gate")))
      return ctx.requeueAfter(100, { resourceManagerStatus: { phase: "studying" } });
    const asked = { requestKey: STUDY };
    await ctx.workflows.queueFollowUp({ ...asked, followUpKey: "sum", prompt: "Sum it up." });
    const never = await ctx.workflows.queueFollowUp({ ...asked, followUpKey: "never", prompt: "Never mind." });
    await ctx.workflows.removeFollowUp({ ...asked, followUpId: never.followUpId });
    const patch = [{ op: "replace", path: "/rounds", value: 2 }];
    await ctx.workflows.changeSettings({ ...asked, changeKey: "rounds:2", patch, expectedChangeNumber: 0 });
    if (first("mess")) process.env["TENDED_MESS"] = "left behind";
    return ctx.settled({ resourceManagerStatus: { phase: "tuned" } });
  },
});
