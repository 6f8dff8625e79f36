/**
 * The mounts of a run inside one command: which invocation each is in, as the rules compute it from the steps, and the inputs
 * that the runner made. Runs without included workflows pay nothing for it.
 */
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import type { IncludeTransition, MountState } from "../../contracts/include.ts";
import { CONTENT } from "../../contracts/limits.ts";
import {
  applyTransitions,
  mountsAtStart,
  type MountMark,
  type MountMarks,
  type PlannedTransition,
} from "../../workflow/rules/index.ts";
import { defineCommand } from "../command.ts";
import type { Actor, Claim, Tx } from "../tx.ts";
import { largeContent } from "../values.ts";
import { claimedRun, type RunRow } from "./rows.ts";

const NONE: MountMarks = new Map();

/** Where the run is in its mounts. */
export function marksOf(tx: Tx, run: RunRow, definition: DefinitionSnapshot): MountMarks {
  if (definition.includes === undefined) return NONE;
  const rows = tx.all<Omit<MountMark, "exit"> & { exit: string | null }>(
    "SELECT mount, invocation, first_step AS firstStep, exit FROM run_mounts WHERE run_no = ?",
    run.runNo,
  );
  return new Map(rows.map(({ exit, ...mark }) => [mark.mount, exit === null ? mark : { ...mark, exit }]));
}

/** Whether the runner says of its way from node to node what the rules say. */
export function sameTransitions(
  planned: readonly PlannedTransition[] | undefined,
  proposed: readonly IncludeTransition[] | undefined,
): boolean {
  const [expected, seen] = [planned ?? [], proposed ?? []];
  return (
    expected.length === seen.length &&
    expected.every((plan, index) => {
      const { exit, mount, type } = seen[index] as IncludeTransition & { exit?: string };
      return plan.type === type && plan.mount === mount && (plan.type === "include_entered" || plan.exit === exit);
    })
  );
}

export interface Passage {
  readonly planned: readonly PlannedTransition[] | undefined;
  /** With the inputs; left out when the server itself goes on. */
  readonly proposed?: readonly IncludeTransition[] | undefined;
  /** The step that follows. */
  readonly nextStep: number;
  readonly actor: Actor;
}

/** Stores what was left and entered between two steps, with an event for each; returns the marks afterwards. */
export function pass(tx: Tx, run: RunRow, definition: DefinitionSnapshot, marks: MountMarks, by: Passage): MountMarks {
  const { actor, nextStep, planned, proposed } = by;
  if (planned === undefined || planned.length === 0) return marks;
  const after = applyTransitions(marks, planned, nextStep);
  for (const [index, transition] of planned.entries()) {
    const { mount } = transition;
    const { invocation } = (after.get(mount) ?? marks.get(mount)) as MountMark;
    const workflow = definition.includes?.[mount]?.workflow ?? "";
    if (transition.type === "include_exited") {
      tx.run("UPDATE run_mounts SET exit = ? WHERE run_no = ? AND mount = ?", transition.exit, run.runNo, mount);
      const payload = { mount, workflow, invocation, exit: transition.exit };
      tx.event(run.resourceNo, { type: "include.exited", actor, payload });
      continue;
    }
    tx.run(
      `INSERT INTO run_mounts (run_no, mount, invocation, first_step, input) VALUES (?, ?, ?, ?, ?) ON CONFLICT (run_no, mount)
       DO UPDATE SET invocation = excluded.invocation, first_step = excluded.first_step, input = excluded.input, exit = NULL`,
      run.runNo,
      mount,
      invocation,
      nextStep,
      packedInput(tx, proposed?.[index]),
    );
    tx.event(run.resourceNo, { type: "include.entered", actor, payload: { mount, workflow, invocation } });
  }
  return after;
}

function packedInput(tx: Tx, transition: IncludeTransition | undefined): string | null {
  if (transition?.type !== "include_entered") return null;
  const { input, inputRef } = transition;
  return input === undefined && inputRef === undefined ? null : tx.packEither(input, inputRef);
}

/** The mounts in which the run begins. */
export function enterAtStart(tx: Tx, run: RunRow, definition: DefinitionSnapshot, actor: Actor): void {
  const planned = [...mountsAtStart(definition).keys()].map((mount) => ({ type: "include_entered", mount }) as const);
  pass(tx, run, definition, NONE, { planned, nextStep: 0, actor });
}

/** What a runner needs of the mounts to go on; large inputs by reference. */
export function mountStates(tx: Tx, runNo: number): MountState[] {
  const rows = tx.all<{
    mount: string;
    invocation: number;
    firstStep: number;
    input: string | null;
    exit: string | null;
  }>(
    "SELECT mount, invocation, first_step AS firstStep, input, exit FROM run_mounts WHERE run_no = ? ORDER BY mount",
    runNo,
  );
  return rows.map(({ exit, input, ...mount }) => ({
    ...mount,
    ...(input === null ? {} : inputOf(tx, input)),
    ...(exit === null ? {} : { exit }),
  }));
}

function inputOf(tx: Tx, packed: string): Pick<MountState, "input" | "inputRef"> {
  const inputRef = largeContent(tx, packed, CONTENT.inlineBytes);
  return inputRef === null ? { input: tx.unpack(packed) } : { inputRef };
}

/**
 * `runs.enter`: the inputs of mounts that the server entered by itself, at the start of a run or after an answer. An input is
 * made once: what is stored stays. Throws `claimLost`, and `protocolRejected` for a mount or invocation that the run is not in.
 */
export const enter = defineCommand(
  "runs.enter",
  (tx, input: { claim: Claim; transitions: readonly IncludeTransition[] }): null => {
    const run = claimedRun(tx, input.claim);
    for (const transition of input.transitions) {
      const { invocation, mount } = transition;
      const packed = packedInput(tx, transition);
      const known = tx.get(
        "SELECT 1 FROM run_mounts WHERE run_no = ? AND mount = ? AND invocation = ? AND exit IS NULL",
        run.runNo,
        mount,
        invocation,
      );
      if (known === undefined || transition.type !== "include_entered")
        throw new HoldpointError(
          "protocolRejected",
          `Run ${run.runId} is not in invocation ${invocation} of mount "${mount}".`,
        );
      tx.run(
        "UPDATE run_mounts SET input = coalesce(input, ?) WHERE run_no = ? AND mount = ?",
        packed,
        run.runNo,
        mount,
      );
    }
    return null;
  },
);
