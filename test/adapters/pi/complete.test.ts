// Completion of `/workflow …`: what can stand next, from what is known already; what is not ours is left to Pi.
import { expect, test } from "vitest";
import { completing, suggestions, type CompletionHost } from "../../../adapters/pi/extension/complete.ts";
import type { CompletionProvider, Completions } from "../../../adapters/pi/extension/pi-api.ts";
import { exampleView } from "./example-view.ts";

const view = exampleView();
const fingerprint = view.decisions[0]?.fingerprint ?? "";
const host: CompletionHost = { view: () => view, workflows: () => ["deploy", "cleanup"] };
const values = (before: string): string[] | null | undefined => {
  const found = suggestions(before, host);
  return found === null || found === undefined ? found : found.items.map(({ value }) => value);
};

test("words and workflows stand after the command, and what was begun is completed", () => {
  expect(values("/workflow ")).toEqual(expect.arrayContaining(["answer", "pause", "deploy", "cleanup"]));
  expect(values("/workflow de")).toEqual(["deploy"]);
  expect(values("/workflow an")).toEqual(["answer"]);
});

test("after answer come the decisions that wait, then their choices", () => {
  expect(values("/workflow answer ")).toEqual([fingerprint]);
  expect(values(`/workflow answer ${fingerprint.slice(0, 2)}`)).toEqual([fingerprint]);
  expect(values(`/workflow answer ${fingerprint} `)).toEqual(view.decisions[0]?.card.choices.map(({ id }) => id));
  const settled = { ...view, decisions: view.decisions.map((one) => ({ ...one, answerable: false })) };
  expect(suggestions("/workflow answer ", { ...host, view: () => settled })).toBeUndefined();
});

test("after words about a run comes the session's run", () => {
  expect(values("/workflow pause ")).toEqual(["7k3f"]);
  expect(suggestions("/workflow pause ", { ...host, view: () => undefined })).toBeUndefined();
});

test("a whole word closes the list, so that Enter sends the line; other lines are not ours", () => {
  expect(values("/workflow answer")).toBeNull();
  expect(values("/workflow")).toBeUndefined();
  expect(values("hello /workflow an")).toBeUndefined();
  expect(values("/workflow-channel st")).toBeUndefined();
});

test("what is not ours is asked of Pi; what is ours is put in with a blank after it", async () => {
  const theirs: Completions = { items: [{ value: "x", label: "x" }], prefix: "" };
  const current = {
    getSuggestions: () => Promise.resolve(theirs),
    applyCompletion: () => ({ lines: ["theirs"], cursorLine: 0, cursorCol: 0 }),
  } as unknown as CompletionProvider;
  const provider = completing(host)(current);
  const options = { signal: new AbortController().signal };
  expect(await provider.getSuggestions(["hello"], 0, 5, options)).toBe(theirs);
  expect((await provider.getSuggestions(["/workflow de"], 0, 12, options))?.items).toMatchObject([{ value: "deploy" }]);
  const item = { value: "deploy", label: "deploy" };
  expect(provider.applyCompletion(["/workflow de"], 0, 12, item, "de")).toEqual({
    lines: ["/workflow deploy "],
    cursorLine: 0,
    cursorCol: 17,
  });
  expect(provider.applyCompletion(["hello"], 0, 5, item, "h").lines).toEqual(["theirs"]);
});
