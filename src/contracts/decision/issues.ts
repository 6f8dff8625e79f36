// How a bad decision request is told: the place, the value seen and the limit, as one error class with one kind.

import type { z } from "zod";

import { HoldpointError } from "../errors.ts";

/** One thing that is wrong, with the place inside the value that was checked. */
export interface Problem {
  readonly path: readonly (string | number)[];
  /** Goes on after the place: "has 300 items; the limit is 256". */
  readonly text: string;
  readonly limit?: number;
  readonly seen?: number;
}

/** `blocks[3].items[0].label` */
export function pathText(path: readonly PropertyKey[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? String(part) : `.${String(part)}`;
  }
  return text;
}

/** The error for a problem, its place written under `root` ("presentation", "choices", …). */
export function problemError(root: string, problem: Problem): HoldpointError {
  const place = pathText([root, ...problem.path].filter((part) => part !== ""));
  const details: Record<string, unknown> = { path: place };
  if (problem.limit !== undefined) details["limit"] = problem.limit;
  if (problem.seen !== undefined) details["seen"] = problem.seen;
  return new HoldpointError("presentationInvalid", `${place} ${problem.text}.`, { details });
}

/** Parses by a schema; the error names the first wrong place and the value seen there. Throws `presentationInvalid`. */
export function parseShape<T>(schema: z.ZodType<T>, value: unknown, root: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  if (issue === undefined) throw problemError(root, { path: [], text: "is invalid" });
  const path = issue.path as (string | number)[];
  const seen = path.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined),
    value,
  );
  throw problemError(root, { path, text: issueText(issue, seen) });
}

function issueText(issue: z.core.$ZodIssue, seen: unknown): string {
  if (issue.code === "unrecognized_keys") return `has the unknown field "${issue.keys[0] ?? "?"}"`;
  if (seen === undefined) return "is missing";
  if (issue.code === "custom") return issue.message;
  return `is ${show(seen)}, which does not fit: ${issue.message}`;
}

/** A value in a message: short, on one line. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 77).replace(/[\ud800-\udbff]$/, "")}...` : text;
}
