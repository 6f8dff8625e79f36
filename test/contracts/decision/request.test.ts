// A request binds everything a person sees and answers; every change of it makes another digest and another decision.

import { describe, expect, test } from "vitest";

import {
  acceptedAnswer,
  answerDigestOf,
  cardModelSchema,
  cardOf,
  fingerprintOf,
  normalizeRequest,
  receiptOf,
  requestSchema,
  resolutionSchema,
} from "../../../src/contracts/decision/index.ts";
import { canonicalJson, digestHex } from "../../../src/contracts/canonical.ts";
import { DECISION } from "../../../src/contracts/limits.ts";
import { authoredRequest, BINDING, exampleRequest, HOUR, NOON } from "../../decision/examples.ts";

function refusal(changes: Record<string, unknown>, policy?: { quorum: number; veto?: string[] }): string {
  try {
    exampleRequest(changes, policy);
  } catch (error) {
    expect(error).toMatchObject({ name: "HoldpointError", kind: "presentationInvalid" });
    return (error as Error).message;
  }
  throw new Error("nothing was refused");
}

const presentation = authoredRequest()["presentation"] as Record<string, unknown>;
const choices = authoredRequest()["choices"] as Record<string, Record<string, unknown>>;

describe("a normalized request", () => {
  test("passes its own schema and survives JSON", () => {
    const request = exampleRequest();
    expect(requestSchema.parse(JSON.parse(JSON.stringify(request)))).toEqual(request);
  });

  test("keeps the author's order of choices and fills in the lengths of a text", () => {
    const { choices: stored } = exampleRequest();
    expect(stored).toEqual([
      { id: "approve", label: "Approve" },
      {
        id: "replan",
        label: "Replan",
        input: { type: "text", name: "instructions", prompt: "What should change?", minLength: 1, maxLength: 200 },
      },
      { id: "stop", label: "Stop" },
    ]);
  });

  test("turns a timeout into an instant by the server's clock", () => {
    expect(exampleRequest()).toMatchObject({ expiresAt: NOON + 2 * HOUR, defaultResponse: { choice: "stop" } });
  });

  test("takes a deadline as ISO 8601 or as milliseconds, and has no default then", () => {
    const iso = exampleRequest({ onTimeout: undefined, expiresAt: "2026-12-01T15:00:00+01:00" });
    const ms = exampleRequest({ onTimeout: undefined, expiresAt: Date.parse("2026-12-01T14:00:00Z") });
    expect(iso.expiresAt).toBe(ms.expiresAt);
    expect(iso).not.toHaveProperty("defaultResponse");
    expect(iso.requestDigest).toBe(ms.requestDigest);
  });

  test("has no deadline unless one is authored", () => {
    expect(exampleRequest({ onTimeout: undefined })).not.toHaveProperty("expiresAt");
  });

  test("normalizing its own content again gives the same digest", () => {
    const {
      audience,
      choices: list,
      expiresAt,
      presentation: shown,
      revision,
      subject,
      title,
    } = exampleRequest({ onTimeout: undefined, expiresAt: NOON + HOUR });
    const again = normalizeRequest(
      { audience, choices: list, expiresAt, presentation: shown, revision, subject, title },
      BINDING,
    );
    expect(again).toEqual(exampleRequest({ onTimeout: undefined, expiresAt: NOON + HOUR }));
  });
});

describe("digests", () => {
  test("the request digest is SHA-256 over the bound content and one newline, computed here by hand", () => {
    const { createdAt, decisionId, presentationDigest, requestDigest, subjectDigest, ...content } = exampleRequest();
    expect(createdAt).toBe(NOON);
    expect(content.policy).toEqual({ quorum: 1 });
    expect(requestDigest).toBe(`sha256:${digestHex(`${canonicalJson(content)}\n`)}`);
    expect(subjectDigest).toBe(`sha256:${digestHex('{"service":"shop-api","version":"4.12.0"}\n')}`);
    expect(presentationDigest).toBe(`sha256:${digestHex(`${canonicalJson(content.presentation)}\n`)}`);
    const { attemptId, nodeId, runId } = content;
    const bound = digestHex(`${canonicalJson({ attemptId, nodeId, requestDigest, runId })}\n`);
    expect(decisionId).toBe(`decision-${bound.slice(0, 40)}`);
    expect(fingerprintOf(requestDigest)).toBe(requestDigest.slice(7, 13));
  });

  test("the authored schema id and line ends do not show in the digest", () => {
    const windows = {
      ...presentation,
      schema: "pi-workflows.decision-presentation.v1",
      blocks: [{ kind: "paragraph", text: "a\r\nb" }],
    };
    const plain = { ...presentation, blocks: [{ kind: "paragraph", text: "a\nb" }] };
    expect(exampleRequest({ presentation: windows }).requestDigest).toBe(
      exampleRequest({ presentation: plain }).requestDigest,
    );
  });

  test.each<[string, Record<string, unknown>]>([
    ["title", { title: "Approve the deployment!" }],
    ["subject", { subject: { service: "shop-api", version: "4.12.1" } }],
    ["summary", { presentation: { ...presentation, summary: "shop-api 4.12.1 to production" } }],
    ["label", { choices: { ...choices, approve: { label: "Approve now" } } }],
    [
      "prompt",
      {
        choices: {
          ...choices,
          replan: { label: "Replan", input: { name: "instructions", prompt: "What else?", maxLength: 200 } },
        },
      },
    ],
    [
      "length",
      {
        choices: {
          ...choices,
          replan: { label: "Replan", input: { name: "instructions", prompt: "What should change?", maxLength: 201 } },
        },
      },
    ],
    [
      "order of choices",
      { choices: { stop: choices["stop"], approve: choices["approve"], replan: choices["replan"] } },
    ],
    ["revision", { revision: 2 }],
    ["audience", { audience: "others" }],
    ["deadline", { onTimeout: { afterMs: 2 * HOUR + 1, response: { choice: "stop" } } }],
    ["default", { onTimeout: { afterMs: 2 * HOUR, response: { choice: "approve" } } }],
  ])("a changed %s makes earlier answers stale", (_name, changes) => {
    expect(exampleRequest(changes).requestDigest).not.toBe(exampleRequest().requestDigest);
  });

  test("a changed policy and another attempt make other digests", () => {
    const digests = new Set([
      exampleRequest().requestDigest,
      exampleRequest({ choices: { a: { label: "A" }, stop: { label: "Stop" } } }, { quorum: 2 }).requestDigest,
      exampleRequest({ choices: { a: { label: "A" }, stop: { label: "Stop" } } }).requestDigest,
      normalizeRequest(authoredRequest(), { ...BINDING, attemptId: "attempt-2" }).requestDigest,
    ]);
    expect(digests.size).toBe(4);
  });
});

describe("refused before anything is pending", () => {
  test.each<[string, Record<string, unknown>, string]>([
    [
      "a subject without a presentation",
      { presentation: undefined },
      "request.presentation is missing; no channel derives text from the subject.",
    ],
    ["a missing subject", { subject: undefined }, "request.subject is missing."],
    ["an unknown field", { question: "?" }, 'request has the unknown field "question".'],
    ["a blank title", { title: "  " }, "request.title is empty."],
    ["a long title", { title: "x".repeat(201) }, "request.title has 201 UTF-16 units; the limit is 200."],
    ["revision 0", { revision: 0 }, "request.revision is 0"],
    ["no choices", { choices: {}, onTimeout: undefined }, "choices is empty; a decision needs at least one choice."],
    [
      "nine choices",
      {
        choices: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`c${i}`, { label: `C${i}` }])),
        onTimeout: undefined,
      },
      `choices has 9 choices; the limit is ${DECISION.choices}.`,
    ],
    [
      "two equal labels",
      { choices: { a: { label: "Go" }, stop: { label: "Go " } } },
      'choices[1].label repeats the label "Go ".',
    ],
    ["a bad choice id", { choices: { "1st": { label: "Go" } } }, 'choices[0].id is "1st"'],
    [
      "a choice called __proto__",
      { choices: JSON.parse('{"__proto__": {"label": "Go"}}') as unknown },
      'choices[0].id is "__proto__"',
    ],
    [
      "a long label",
      { choices: { a: { label: "x".repeat(65) } } },
      "choices[0].label has 65 UTF-16 units; the limit is 64.",
    ],
    [
      "a label of two lines",
      { choices: { a: { label: "a\nb" } } },
      "choices[0].label has the control character U+000A",
    ],
    [
      "a text without a name",
      { choices: { a: { label: "A", input: { prompt: "?" } } } },
      "choices[0].input.name is missing.",
    ],
    [
      "minLength 0",
      { choices: { a: { label: "A", input: { name: "t", prompt: "?", minLength: 0 } } } },
      "choices[0].input.minLength is 0; the least is 1.",
    ],
    [
      "maxLength 5000",
      { choices: { a: { label: "A", input: { name: "t", prompt: "?", maxLength: 5000 } } } },
      "choices[0].input.maxLength is 5000; the limit is 4000.",
    ],
    [
      "lengths the wrong way round",
      { choices: { a: { label: "A", input: { name: "t", prompt: "?", minLength: 9, maxLength: 3 } } } },
      "choices[0].input.maxLength is 3, less than minLength 9.",
    ],
    [
      "a deadline that is over",
      { onTimeout: undefined, expiresAt: NOON },
      "which is not after now (2026-12-01T11:30:00.000Z).",
    ],
    ["a deadline without a zone", { onTimeout: undefined, expiresAt: "2026-12-02T12:00:00" }, "request.expiresAt is"],
    [
      "deadline and timeout together",
      { expiresAt: NOON + HOUR },
      "request.expiresAt and request.onTimeout exclude each other.",
    ],
    ["afterMs 0", { onTimeout: { afterMs: 0, response: { choice: "stop" } } }, "request.onTimeout.afterMs is 0"],
    [
      "an unknown default",
      { onTimeout: { afterMs: 1, response: { choice: "go" } } },
      'request.onTimeout.response.choice is "go"; the choices are approve, replan, stop.',
    ],
    [
      "a default without its text",
      { onTimeout: { afterMs: 1, response: { choice: "replan" } } },
      'request.onTimeout.response.input is missing; the choice "replan" takes a text.',
    ],
    [
      "a default with a text too many",
      { onTimeout: { afterMs: 1, response: { choice: "stop", input: "x" } } },
      'is given, but the choice "stop" takes none.',
    ],
    [
      "a default text that is too long",
      { onTimeout: { afterMs: 1, response: { choice: "replan", input: "x".repeat(201) } } },
      "request.onTimeout.response.input has 201 UTF-16 units; the limit is 200.",
    ],
    ["an audience with a space", { audience: "my team" }, 'request.audience is "my team"'],
    ["a subject that JSON cannot carry", { subject: { at: [1, NaN] } }, "at[1] is the number NaN"],
  ])("%s", (_name, changes, message) => {
    expect(refusal(changes)).toContain(message);
  });

  test("a presentation that needs more than 20 messages, although its own units fit", () => {
    const blocks = Array.from({ length: 150 }, () => ({
      kind: "bullets",
      items: Array.from({ length: 200 }, () => "ab"),
    }));
    expect(refusal({ presentation: { ...presentation, blocks } })).toMatch(
      /^presentation needs \d+ chat messages; the limit is 20\.$/,
    );
  });

  test("the largest presentation of ordinary text fits into 20 messages", () => {
    const summary = "s".repeat(100);
    const paragraphs = Array.from({ length: 4 }, () => ({ kind: "paragraph", text: "lorem ipsum ".repeat(1_331) }));
    expect(() => exampleRequest({ presentation: { ...presentation, summary, blocks: paragraphs } })).not.toThrow();
  });

  test("a quorum over a choice that takes a text, unless that choice is a veto", () => {
    expect(refusal({}, { quorum: 2 })).toContain('policy.quorum is 2, but the choice "replan" takes a text');
    expect(refusal({}, { quorum: 2, veto: ["nope"] })).toBe('policy.veto[0] names the unknown choice "nope".');
    expect(exampleRequest({}, { quorum: 2, veto: ["replan"] }).policy).toEqual({ quorum: 2, veto: ["replan"] });
  });
});

describe("what a default and an accepted answer look like", () => {
  test("a default's text may be written plainly or under its name", () => {
    const plain = exampleRequest({ onTimeout: { afterMs: 1, response: { choice: "replan", input: "use blue" } } });
    const named = exampleRequest({
      onTimeout: { afterMs: 1, response: { choice: "replan", input: { instructions: "use blue" } } },
    });
    expect(plain.defaultResponse).toEqual({ choice: "replan", input: "use blue" });
    expect(named.requestDigest).toBe(plain.requestDigest);
    expect(refusal({ onTimeout: { afterMs: 1, response: { choice: "replan", input: { other: "x" } } } })).toContain(
      'expected only "instructions"',
    );
  });

  test("the workflow receives the text under the input's name", () => {
    const { choices: list } = exampleRequest();
    expect(acceptedAnswer(list, "replan", "use blue")).toEqual({
      choice: "replan",
      input: { instructions: "use blue" },
    });
    expect(acceptedAnswer(list, "approve", undefined)).toEqual({ choice: "approve" });
  });

  test("the card holds no subject, and what it holds passes its schema", () => {
    const card = cardOf(exampleRequest(), { runShortId: "7k3f", timeZone: "Europe/Berlin", audience: ["Ann"] });
    expect(cardModelSchema.parse(JSON.parse(JSON.stringify(card)))).toEqual(card);
    expect(JSON.stringify(card)).not.toContain("subject");
    expect(cardModelSchema.safeParse({ ...card, timeZone: "Europe/Nowhere" }).success).toBe(false);
  });

  test("the receipt for the run names no person, channel or event", () => {
    const { decisionId, requestDigest } = exampleRequest();
    const resolution = resolutionSchema.parse({
      schema: "holdpoint.human-decision-resolution.v1",
      decisionId,
      requestDigest,
      provenance: "human",
      choice: "approve",
      answerDigest: answerDigestOf({ decisionId, requestDigest, choice: "approve" }),
      personId: "person-ann",
      source: { channel: "telegram:ops", actorId: "4711", eventId: "tap-9" },
      assurance: "remote",
      graceAfterOutage: false,
      resolvedAt: NOON,
    });
    const text = JSON.stringify(receiptOf(resolution, "gate"));
    for (const secret of ["person-ann", "telegram:ops", "4711", "tap-9"]) expect(text).not.toContain(secret);
    expect(resolutionSchema.safeParse({ ...resolution, choice: null }).success).toBe(false);
    expect(resolutionSchema.safeParse({ ...resolution, provenance: "explicit_cancel" }).success).toBe(false);
  });
});
