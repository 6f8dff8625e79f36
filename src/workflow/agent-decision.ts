/** Decisions by an agent: a step whose output names one of a closed set of routes, and the edge that follows each. */
import { HoldpointError } from "../contracts/errors.ts";
import { type AgentNode, agentNode } from "./agent.ts";
import type { NodeContext } from "./context.ts";
import type { SwitchEdge } from "./edges.ts";

/** Names, or names with what each of them means. */
export type RouteChoices = readonly string[] | Readonly<Record<string, string>>;
/** The names in a set of choices. */
export type RouteOf<Choices extends RouteChoices> = Choices extends readonly (infer Name extends string)[]
  ? Name
  : keyof Choices & string;

const FIELD = /^[A-Za-z_][A-Za-z0-9_]*$/;

type Decided<Choices extends RouteChoices, Field extends string> = { readonly [F in Field]: RouteOf<Choices> } & {
  readonly [key: string]: unknown;
};

/**
 * A step in which a model chooses one route of a closed set. The output is what it submitted: an object whose field
 * (`route`, unless `field` names another) is one of the choices; other fields are free, and `validate` may check them.
 *
 * @example
 * const routes = { wait: "nothing to do yet", act: "there is something to do", stop: "the goal is reached" } as const;
 * const decide = decision({ choices: routes, prompt: ({ outputs }) => `What now?\n\n${evidence(outputs.observe)}` });
 */
export function decision<
  const Choices extends RouteChoices,
  const Field extends string = "route",
  Output = Decided<Choices, Field>,
  Input = any,
  Outputs extends object = Record<string, any>,
>(options: {
  readonly choices: Choices;
  readonly prompt: string | ((context: NodeContext<Input, Outputs>) => string | Promise<string>);
  /** A plain name; default `route`. */
  readonly field?: Field;
  /** What else is to be submitted, in words; the choices are explained by themselves. */
  readonly expectedOutput?: string;
  /** Called with an object whose field is one of the choices; must keep that field. */
  readonly validate?: (value: Decided<Choices, Field>, context: NodeContext<Input, Outputs>) => Output;
  readonly allowedTools?: readonly string[];
  readonly timeoutMs?: AgentNode["timeoutMs"];
  readonly statusDetail?: AgentNode["statusDetail"];
  readonly cwd?: Exclude<AgentNode["cwd"], undefined>;
}): AgentNode<Input, Outputs, Awaited<Output>> {
  const { choices, expectedOutput, field = "route", validate, ...rest } = options;
  const names = routeNames(choices, "decision");
  if (!FIELD.test(field)) {
    throw new HoldpointError(
      "workflowInvalid",
      `The field of a decision is a plain name; it is ${JSON.stringify(field)}.`,
    );
  }
  const meanings: string[] = Array.isArray(choices)
    ? names.map((name) => `- ${name}`)
    : Object.entries(choices).map(([name, meaning]) => `- ${name}: ${meaning}`);
  const expected = [
    `A JSON object whose field "${field}" is one of:`,
    ...meanings,
    ...(expectedOutput === undefined ? [] : [expectedOutput]),
  ].join("\n");
  const check = (value: unknown, context: NodeContext): unknown => {
    const chosen = chosenOf(value, field);
    if (!names.includes(chosen as string)) {
      throw new Error(
        `The field "${field}" is ${JSON.stringify(chosen) ?? "missing"}; it is one of ${names.join(", ")}.`,
      );
    }
    return validate === undefined ? value : checked(validate(value as never, context as never), field, names);
  };
  const node = { ...rest, expectedOutput: expected, validate: check };
  return agentNode(node, Object.freeze({ field, names })) as AgentNode<Input, Outputs, Awaited<Output>>;
}

/**
 * The edge after a decision: one target for each choice, none missing and none too many, checked by the compiler and
 * again when the workflow is defined.
 *
 * @example
 * decisionEdge({ from: "decide", choices: routes, cases: { wait: "sleep", act: "act", stop: "report" } });
 */
export function decisionEdge<
  const Choices extends RouteChoices,
  const From extends string,
  const Cases extends { readonly [Name in RouteOf<Choices>]: string },
>(options: {
  readonly from: From;
  readonly choices: Choices;
  readonly cases: Cases & { readonly [Name in Exclude<keyof Cases, RouteOf<Choices>>]: never };
  /** As in the decision. */
  readonly field?: string;
}): SwitchEdge<From, Cases[keyof Cases] & string> {
  const { cases, choices, field = "route", from } = options;
  const names = routeNames(choices, `decisionEdge from "${from}"`);
  const missing = names.filter((name) => !Object.hasOwn(cases, name));
  const extra = Object.keys(cases).filter((name) => !names.includes(name));
  if (missing.length > 0 || extra.length > 0) {
    const parts = [
      ...(missing.length > 0 ? [`has no case for ${missing.join(", ")}`] : []),
      ...(extra.length > 0 ? [`has a case for ${extra.join(", ")}, which cannot be chosen`] : []),
    ];
    throw new HoldpointError("workflowInvalid", `decisionEdge from "${from}" ${parts.join(" and ")}.`);
  }
  return Object.freeze({ from, switch: Object.freeze({ on: `$.${field}`, cases: Object.freeze({ ...cases }) }) });
}

/** The names, checked: at least one, no empty one, none twice. */
function routeNames(choices: RouteChoices, where: string): string[] {
  const names: string[] = Array.isArray(choices) ? [...choices] : Object.keys(choices ?? {});
  if (names.length === 0) throw new HoldpointError("workflowInvalid", `${where} needs at least one choice.`);
  for (const [index, name] of names.entries()) {
    if (typeof name !== "string" || name.trim() === "") {
      throw new HoldpointError("workflowInvalid", `${where} has a choice without a name.`);
    }
    if (names.indexOf(name) !== index)
      throw new HoldpointError("workflowInvalid", `${where} has the choice ${name} twice.`);
  }
  return names;
}

function chosenOf(value: unknown, field: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error("The result is no JSON object.");
  return Object.hasOwn(value, field) ? (value as Record<string, unknown>)[field] : undefined;
}

async function checked(made: unknown, field: string, names: readonly string[]): Promise<unknown> {
  const output = await made;
  const chosen = chosenOf(output, field);
  if (names.includes(chosen as string)) return output;
  throw new Error(`validate made an output whose field "${field}" is no choice any more.`);
}
