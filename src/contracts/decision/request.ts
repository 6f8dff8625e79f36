// A decision request: everything an answer is bound to, normalized and digested in one place for everybody.
// Any change of what a person sees or of what the answer is about gives another digest and makes earlier answers stale.

import { z } from "zod";

import { DIGEST_PATTERN, sha256Digest, type Sha256Digest } from "../canonical.ts";
import { HoldpointError } from "../errors.ts";
import { ID_PATTERN } from "../ids.ts";
import { DECISION } from "../limits.ts";
import { jsonSchema } from "../protocol/shared.ts";
import { layoutBody } from "./body.ts";
import { choicesSchema, normalizeChoices, type Choice } from "./choices.ts";
import { judgeInput } from "./input.ts";
import { parseShape, problemError, show } from "./issues.ts";
import { partsProblem } from "./parts.ts";
import { FIRST_ANSWER, policyProblem, policySchema, type DecisionPolicy } from "./policy.ts";
import { normalizePresentation, presentationSchema } from "./presentation.ts";
import { textProblem } from "./text.ts";

export const REQUEST_SCHEMA = "holdpoint.human-decision-request.v1";

export const digestSchema = z.custom<Sha256Digest>((value) => typeof value === "string" && DIGEST_PATTERN.test(value), {
  message: "expected sha256: and 64 hex digits",
});

/** A choice with its text, as a default names it. */
export const defaultResponseSchema = z.strictObject({ choice: z.string(), input: z.string().optional() });
export type DefaultResponse = z.infer<typeof defaultResponseSchema>;

/** Milliseconds since the epoch. */
export const timeSchema = z.number().int().nonnegative();

export const requestSchema = z.strictObject({
  schema: z.literal(REQUEST_SCHEMA),
  decisionId: z.string().regex(/^decision-[0-9a-f]{40}$/),
  runId: z.string().min(1),
  workflowName: z.string().min(1),
  nodeId: z.string().min(1),
  attemptId: z.string().min(1),
  audience: z.string().regex(ID_PATTERN.name),
  title: z.string(),
  subject: jsonSchema,
  presentation: presentationSchema,
  choices: choicesSchema,
  revision: z.number().int().min(1),
  policy: policySchema,
  subjectDigest: digestSchema,
  presentationDigest: digestSchema,
  requestDigest: digestSchema,
  /** Milliseconds since the epoch; `deadline <= now` refuses an answer. */
  expiresAt: timeSchema.optional(),
  /** Chosen at `expiresAt`; without it the decision expires. */
  defaultResponse: defaultResponseSchema.optional(),
  createdAt: timeSchema,
});
export type DecisionRequest = z.infer<typeof requestSchema>;

/** What the server adds to an authored request. `createdAt` is its clock. */
export interface RequestBinding {
  readonly runId: string;
  readonly workflowName: string;
  readonly nodeId: string;
  readonly attemptId: string;
  readonly createdAt: number;
  /** Snapshot of the audience's policy; absent = first valid answer. */
  readonly policy?: DecisionPolicy;
}

const authoredResponse = z.strictObject({
  choice: z.string(),
  input: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
});
const authoredShape = z.strictObject({
  audience: z.string().regex(ID_PATTERN.name),
  title: z.string(),
  subject: jsonSchema,
  presentation: z.unknown().optional(),
  choices: z.unknown(),
  revision: z.number().int().min(1).optional(),
  /** Milliseconds since the epoch, or ISO 8601 with a zone. */
  expiresAt: z.union([z.number().int(), z.iso.datetime({ offset: true })]).optional(),
  onTimeout: z.strictObject({ afterMs: z.number().int().positive(), response: authoredResponse }).optional(),
});

/** The last instant that a JavaScript date can hold. */
const LAST_INSTANT = 8_640_000_000_000_000;

/**
 * Normalizes and digests an authored request `{audience, title, subject, presentation, choices, revision?, expiresAt?,
 * onTimeout?}`, with choices as a map from id or as a list with ids. Pure: the same input gives the same request.
 *
 * @throws HoldpointError `presentationInvalid` with the place, the limit and the value seen, before anything is pending.
 */
export function normalizeRequest(authored: unknown, binding: RequestBinding): DecisionRequest {
  const given = parseShape(authoredShape, withoutUndefined(authored), "request");
  if (given.presentation === undefined) {
    throw problemError("request", {
      path: ["presentation"],
      text: "is missing; no channel derives text from the subject",
    });
  }
  const title = textProblem(given.title, { lines: false, units: DECISION.titleUnits, filled: true }, ["title"]);
  if (title !== undefined) throw problemError("request", title);
  const presentation = normalizePresentation(given.presentation);
  const choices = normalizeChoices(given.choices);
  const policy = binding.policy ?? FIRST_ANSWER;
  const policyTrouble = policyProblem(policy, choices);
  if (policyTrouble !== undefined) throw problemError("policy", policyTrouble);
  const buttons = choices.map(({ label, input }) => ({ label, hasInput: input !== undefined }));
  const tooLong = partsProblem(layoutBody({ title: given.title, presentation, choices: buttons }));
  if (tooLong !== undefined) throw problemError("presentation", tooLong);

  const content = {
    schema: REQUEST_SCHEMA,
    runId: binding.runId,
    workflowName: binding.workflowName,
    nodeId: binding.nodeId,
    attemptId: binding.attemptId,
    audience: given.audience,
    title: given.title,
    subject: given.subject,
    presentation,
    choices,
    revision: given.revision ?? 1,
    policy,
    ...deadline(given, choices, binding.createdAt),
  } satisfies Partial<DecisionRequest>;
  const requestDigest = digestOf("request", content);
  return {
    ...content,
    decisionId: decisionIdOf({ ...binding, requestDigest }),
    subjectDigest: digestOf("request.subject", given.subject),
    presentationDigest: digestOf("presentation", presentation),
    requestDigest,
    createdAt: binding.createdAt,
  };
}

/** `decision-` and 40 hex digits of the digest over run, node, attempt and request digest. */
export function decisionIdOf(binding: {
  runId: string;
  nodeId: string;
  attemptId: string;
  requestDigest: Sha256Digest;
}): string {
  const { runId, nodeId, attemptId, requestDigest } = binding;
  const digest = sha256Digest({ runId, nodeId, attemptId, requestDigest }, { trailingNewline: true });
  return `decision-${digest.slice("sha256:".length, "sha256:".length + 40)}`;
}

/** The short id of a decision: the first six hex digits of its request digest. */
export function fingerprintOf(requestDigest: string): string {
  return requestDigest.slice("sha256:".length, "sha256:".length + 6);
}

/** A value that JSON cannot carry is the author's error here, told with its place under `root`. */
function digestOf(root: string, value: unknown): Sha256Digest {
  try {
    return sha256Digest(value, { trailingNewline: true });
  } catch (error) {
    if (!(error instanceof HoldpointError) || error.kind !== "notCanonical") throw error;
    throw new HoldpointError("presentationInvalid", error.message.replace("The value at $", `The value at ${root}`), {
      cause: error,
    });
  }
}

/** Optional fields that were written out as undefined count as absent, at the first level only. */
function withoutUndefined(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}

type Deadline = Pick<DecisionRequest, "expiresAt" | "defaultResponse">;

function deadline(given: z.infer<typeof authoredShape>, choices: readonly Choice[], createdAt: number): Deadline {
  if (given.onTimeout !== undefined && given.expiresAt !== undefined) {
    throw problemError("request", { path: ["expiresAt"], text: "and request.onTimeout exclude each other" });
  }
  if (given.onTimeout !== undefined) {
    const { afterMs, response } = given.onTimeout;
    const expiresAt = createdAt + afterMs;
    if (expiresAt > LAST_INSTANT) {
      const limit = LAST_INSTANT - createdAt;
      throw problemError("request", {
        path: ["onTimeout", "afterMs"],
        text: `is ${afterMs}; the limit is ${limit}`,
        limit,
        seen: afterMs,
      });
    }
    return { expiresAt, defaultResponse: defaultOf(response, choices) };
  }
  if (given.expiresAt === undefined) return {};
  const expiresAt = typeof given.expiresAt === "number" ? given.expiresAt : Date.parse(given.expiresAt);
  if (expiresAt <= createdAt || expiresAt > LAST_INSTANT) {
    const now = new Date(createdAt).toISOString();
    throw problemError("request", {
      path: ["expiresAt"],
      text: `is ${show(given.expiresAt)}, which is not after now (${now})`,
    });
  }
  return { expiresAt };
}

function defaultOf(response: z.infer<typeof authoredResponse>, choices: readonly Choice[]): DefaultResponse {
  const at = ["onTimeout", "response"];
  const choice = choices.find(({ id }) => id === response.choice);
  if (choice === undefined) {
    const known = choices.map(({ id }) => id).join(", ");
    throw problemError("request", {
      path: [...at, "choice"],
      text: `is ${show(response.choice)}; the choices are ${known}`,
    });
  }
  const verdict = judgeInput(choice, inputText(response.input, choice));
  if (verdict.kind === "ok") {
    return verdict.input === undefined ? { choice: choice.id } : { choice: choice.id, input: verdict.input };
  }
  const path = [...at, "input"];
  switch (verdict.kind) {
    case "inputRequired":
      throw problemError("request", { path, text: `is missing; the choice "${choice.id}" takes a text` });
    case "inputUnexpected":
      throw problemError("request", { path, text: `is given, but the choice "${choice.id}" takes none` });
    case "inputInvalid": {
      if (verdict.rule === "characters") throw problemError("request", { path, text: verdict.seen });
      const { limit, seen } = verdict;
      const word = verdict.rule === "minLength" ? "least" : "limit";
      throw problemError("request", { path, text: `has ${seen} UTF-16 units; the ${word} is ${limit}`, limit, seen });
    }
  }
}

/** A default's text may be written plainly or, as the workflow will receive it, under the input's name. */
function inputText(input: string | Record<string, string> | undefined, choice: Choice): string | undefined {
  if (typeof input !== "object") return input;
  const names = Object.keys(input);
  const name = choice.input?.name;
  if (names.length === 1 && names[0] === name && name !== undefined) return input[name];
  throw problemError("request", {
    path: ["onTimeout", "response", "input"],
    text: `has the fields ${show(names.join(", "))}; expected ${name === undefined ? "no input" : `only "${name}"`}`,
  });
}
