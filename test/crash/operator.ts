/**
 * The automatic operator: does what the product itself names as the way out of a state, with the command line, and nothing else.
 * It knows the truth (the ledger, the file of actions) and says it.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { LedgerMessage } from "../../adapters/telegram/sim/index.ts";
import { visibleMessages } from "../../adapters/telegram/sim/index.ts";
import type { EffectSummary } from "../../src/contracts/protocol/operations.ts";
import { liveButtons, runCli } from "../harness/index.ts";
import type { Stage, World } from "./stage.ts";

/** A command that was run this often without an end to the state helps nobody. */
const MOST_TRIES = 4;

export class Operator {
  /** Called before a run is resumed: what was wrong is put right. */
  beforeResume: () => void = () => undefined;
  /** While false, the operator does nothing. */
  awake = true;
  /** Command lines that were run, in order. */
  readonly commands: string[] = [];
  readonly #stage: Stage;
  readonly #tries = new Map<string, number>();
  /** What was in doubt at the last look; evidence gets its time to come first. */
  #doubtful = new Set<string>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Whether anything was done. */
  async act(world: World): Promise<boolean> {
    if (!this.awake) return false;
    const before = this.#doubtful;
    this.#doubtful = new Set(
      world.effects.filter(({ settleWith }) => settleWith !== null).map(({ effectId }) => effectId),
    );
    if (world.ledger.pendingUpdates.length > 0) return false;
    for (const effect of world.effects) {
      if (effect.settleWith === null || !before.has(effect.effectId)) continue;
      const words =
        effect.purpose === "action" ? this.#truthOfAction(effect, world) : await this.#truthOfMessage(effect, world);
      if (words === null) continue;
      // "holdpoint effect settle e-1 applied|notApplied|retry": the alternatives are replaced by the truth.
      await this.#type([...effect.settleWith.split(" ").slice(1, -1), ...words]);
      return true;
    }
    for (const { nextStep, run } of world.runs) {
      const [, command] = /(?:^|`)holdpoint (resume [^\s`]+)/.exec(nextStep ?? "") ?? [];
      if (command === undefined || run.status === "paused") continue;
      this.beforeResume();
      await this.#type(command.split(" "));
      return true;
    }
    return false;
  }

  #truthOfAction(effect: EffectSummary, world: World): string[] {
    const input = world.runs.find(({ run }) => run.runId === effect.runId)?.input as { folder: string } | undefined;
    const file = join(input?.folder ?? "", "actions.jsonl");
    const done = existsSync(file) && readFileSync(file, "utf8").includes(effect.effectId);
    return [done ? "applied" : "notApplied"];
  }

  /** Looks for the copy in the chat; null while the person may still prove it by pressing its button. */
  async #truthOfMessage(effect: EffectSummary, world: World): Promise<string[] | null> {
    const { parts, request } = await this.#stage.call("effect.show", { effect: effect.effectId });
    const all = await Promise.all(
      world.effects
        .filter(({ purpose }) => purpose !== "action")
        .map(({ effectId }) => this.#stage.call("effect.show", { effect: effectId })),
    );
    const known = new Set(all.flatMap((detail) => detail.parts.map(({ reference }) => reference)));
    const [place = ""] = (effect.destination ?? "").split("/").slice(1);
    const doubtful = parts.find(({ state }) => state === "ambiguous");
    const isIt = (message: LedgerMessage): boolean => {
      if (message.from !== "bot" || known.has(`${place}:${message.id}`)) return false;
      if (effect.purpose === "reply")
        return message.forceReply !== undefined || JSON.stringify(request).includes(message.text.slice(0, 20));
      if (effect.purpose === "notification") return message.text.includes("The study was measured.");
      const first = message.versions[0] ?? message;
      if (!first.text.includes(effect.decisionFingerprint ?? "?")) return false;
      return doubtful === undefined || doubtful.of === 1 || first.text.includes(`part ${doubtful.part}/${doubtful.of}`);
    };
    const found = visibleMessages(world.ledger, Number(place)).find(isIt);
    const { awake, patient } = this.#stage.person;
    const decided = world.runs.some(({ decisions }) =>
      decisions.some(({ fingerprint, status }) => fingerprint === effect.decisionFingerprint && status !== "pending"),
    );
    // A question for text is answered once; the second copy of it is answered by nobody.
    const evidence =
      found !== undefined &&
      awake &&
      !patient &&
      (liveButtons(found).length > 0 || (found.forceReply !== undefined && !decided));
    if (evidence) return null;
    if (found !== undefined) return ["confirm", "--reference", String(found.id)];
    // A card that nobody needs any more is not sent again: what is known is that it is not there.
    return decided ? ["confirm"] : ["retry"];
  }

  async #type(args: readonly string[]): Promise<void> {
    const line = args.join(" ");
    const tries = (this.#tries.get(line) ?? 0) + 1;
    this.#tries.set(line, tries);
    this.commands.push(line);
    await this.#stage.server();
    const { code, stderr } = await runCli(this.#stage.scope, ["--no-start", ...args], {
      env: { HOLDPOINT_HOME: this.#stage.home.dir },
    });
    // A command may come too late, or meet the server's death; one that never helps is a defect.
    if (tries >= MOST_TRIES)
      throw new Error(`stuck: "holdpoint ${line}" did not help ${tries} times; the last said ${code}: ${stderr}`);
  }
}
