/** Human decisions in a workflow: the choices, the node that asks, and the edge that follows every choice. */
import { normalizeChoices, type ChoiceStyle } from "../contracts/decision/choices.ts";
import type { PresentationBlock } from "../contracts/decision/presentation.ts";
import { HoldpointError } from "../contracts/errors.ts";
import type { NodeContext } from "./context.ts";
import type { SwitchEdge } from "./edges.ts";
import { checkFunction, type NodeTypes } from "./node-types.ts";

export interface TextInputOptions<Name extends string = string> {
  /** Under which name the workflow receives the text: `answer.input.<name>`. */
  readonly name: Name;
  /** What the person is asked. */
  readonly prompt: string;
  /** UTF-16 units of the trimmed text; default 1. */
  readonly minLength?: number;
  /** Default 4,000, which is also the most. */
  readonly maxLength?: number;
}
export interface TextInput<Name extends string = string> extends TextInputOptions<Name> {
  readonly type: "text";
}
export interface ChoiceOptions {
  /** What the button says; at most 64 UTF-16 units, different from the other labels. */
  readonly label: string;
  /** Asks for a text together with this choice. */
  readonly input?: TextInputOptions;
  /** How a client that can may paint the button. */
  readonly style?: ChoiceStyle;
  /** Where the audience wants several people to agree, one of them decides this at once. A choice with a text needs it there. */
  readonly veto?: boolean;
}
export type HumanChoices = Readonly<Record<string, ChoiceOptions>>;

type InputOf<C> = C extends { readonly input: { readonly name: infer Name extends string } }
  ? { readonly input: { readonly [N in Name]: string } }
  : { readonly input?: undefined };

/** What a person answered: the output of a decision node. One member per choice, so that `switch (answer.choice)` narrows. */
export type HumanAnswer<Choices extends HumanChoices> = {
  readonly [Id in keyof Choices & string]: { readonly choice: Id } & InputOf<Choices[Id]>;
}[keyof Choices & string];

/** What is shown, as plain text in blocks; the same in every channel. */
export interface HumanPresentation {
  readonly schema?: "holdpoint.decision-presentation.v1" | "pi-workflows.decision-presentation.v1";
  /** One line that says what it is about. */
  readonly summary: string;
  readonly blocks: readonly PresentationBlock[];
  /** Chats get the title and the choices only; the rest is shown on the server's own terminal. */
  readonly sensitive?: boolean;
}

/** One question. */
export interface HumanRequest {
  /** First line of the card, at most 200 UTF-16 units. */
  readonly title: string;
  /** What the answer is bound to, as JSON. It is never shown. */
  readonly subject: unknown;
  readonly presentation: HumanPresentation;
  /** Number of the version that is asked about, from 1. */
  readonly revision?: number;
  /** Milliseconds since the epoch, or ISO 8601 with a zone. Without an answer by then the run fails. Not with `onTimeout`. */
  readonly expiresAt?: number | string;
}

export interface HumanDecisionNode<Input = any, Outputs extends object = any, Output = any> extends NodeTypes<
  Input,
  Outputs,
  Output
> {
  readonly type: "humanDecision";
  readonly audience: string;
  readonly choices: HumanChoices;
  readonly onTimeout: { readonly afterMs: number; readonly response: unknown } | undefined;
  readonly request: (context: NodeContext<any, any>) => HumanRequest | Promise<HumanRequest>;
}

/**
 * A text that goes with a choice.
 *
 * @example
 * textInput({ name: "changes", prompt: "What should change?", maxLength: 500 });
 */
export function textInput<const Name extends string>(options: TextInputOptions<Name>): TextInput<Name> {
  return Object.freeze({ ...options, type: "text" });
}

/**
 * One choice of a decision.
 *
 * @example
 * choice({ label: "Stop", style: "danger" });
 */
export function choice<const Options extends ChoiceOptions>(options: Options): Options {
  return Object.freeze({ ...options });
}

/**
 * The choices of a decision by id, in the order of the buttons. Checked at once: labels, ids, lengths, at most 8.
 *
 * @example
 * const choices = defineHumanChoices({
 *   approve: choice({ label: "Approve", style: "success" }),
 *   replan: choice({ label: "Replan", input: textInput({ name: "changes", prompt: "What should change?" }) }),
 * });
 * @throws HoldpointError `presentationInvalid` with the limit and the value seen.
 */
export function defineHumanChoices<const Choices extends HumanChoices>(choices: Choices): Choices {
  normalizeChoices(choices);
  return Object.freeze({ ...choices });
}

/**
 * A step at which the run stops until a person of the audience decides, or its timeout does. The output is the answer.
 * There is no node timeout; a pause of the run does not stop the question.
 *
 * @example
 * const approve = humanDecision({
 *   audience: "operators",
 *   choices,
 *   request: ({ input }) => ({
 *     title: "Approve the deployment",
 *     subject: { version: input.version },
 *     presentation: { summary: `Release ${input.version}`, blocks: [] },
 *   }),
 *   onTimeout: { afterMs: 3_600_000, response: { choice: "stop" } },
 * });
 */
export function humanDecision<
  const Choices extends HumanChoices,
  Input = any,
  Outputs extends object = Record<string, any>,
>(options: {
  /** Name of an audience in the configuration. */
  readonly audience: string;
  readonly choices: Choices;
  readonly request: (context: NodeContext<Input, Outputs>) => HumanRequest | Promise<HumanRequest>;
  /** Decides by itself when nobody answered in time. */
  readonly onTimeout?: { readonly afterMs: number; readonly response: NoInfer<HumanAnswer<Choices>> };
}): HumanDecisionNode<Input, Outputs, HumanAnswer<Choices>> {
  const { audience, choices, onTimeout, request } = options;
  checkFunction(request, "humanDecision", "request");
  if (typeof audience !== "string" || audience === "") {
    throw new HoldpointError("workflowInvalid", "humanDecision needs an audience; there is no default one.");
  }
  normalizeChoices(choices);
  return Object.freeze({ type: "humanDecision", audience, choices, onTimeout, request });
}

/** An author without the compiler's help hears which argument is wrong. */
function checkEdge(options: unknown): void {
  const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
  const { cases, choices, from } = (isObject(options) ? options : {}) as Record<string, unknown>;
  const wrong =
    typeof from !== "string" ? "from" : !isObject(choices) ? "choices" : !isObject(cases) ? "cases" : undefined;
  if (wrong === undefined) return;
  const wanted = wrong === "from" ? "the id of the decision's node" : "an object with one entry for each choice";
  throw new HoldpointError("workflowInvalid", `humanDecisionEdge needs "${wrong}": ${wanted}.`, {
    remedy: "Write `humanDecisionEdge({ from, choices, cases })`.",
  });
}

/**
 * The edge after a decision: one target for each choice, none missing and none too many, checked by the compiler and
 * again when the workflow is defined.
 *
 * @example
 * humanDecisionEdge({ from: "approve", choices, cases: { approve: "deploy", replan: "revise" } });
 */
export function humanDecisionEdge<
  Choices extends HumanChoices,
  const From extends string,
  const To extends string,
>(options: {
  readonly from: From;
  readonly choices: Choices;
  readonly cases: { readonly [Id in keyof NoInfer<Choices>]: To };
}): SwitchEdge<From, To> {
  checkEdge(options);
  const { cases, choices, from } = options;
  const missing = Object.keys(choices).filter((id) => !Object.hasOwn(cases, id));
  const extra = Object.keys(cases).filter((id) => !Object.hasOwn(choices, id));
  if (missing.length > 0 || extra.length > 0) {
    const parts = [
      ...(missing.length > 0 ? [`has no case for ${missing.join(", ")}`] : []),
      ...(extra.length > 0 ? [`has a case for ${extra.join(", ")}, which nobody can choose`] : []),
    ];
    throw new HoldpointError("workflowInvalid", `humanDecisionEdge from "${from}" ${parts.join(" and ")}.`);
  }
  return Object.freeze({ from, switch: Object.freeze({ on: "$.choice", cases: Object.freeze({ ...cases }) }) });
}
