// The command line's words: what is unknown gets the nearest valid word, a code and the next step.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { EXIT, exitCodeOf, exitCodeOfRun } from "../../src/cli/exit-codes.ts";
import { nearest } from "../../src/contracts/nearest.ts";
import { ERRORS, type ErrorKind } from "../../src/contracts/errors.ts";
import { isFinal, RUN_STATES } from "../../src/contracts/states.ts";
import { fits } from "./fake.ts";
import { holdpoint } from "./run-in-process.ts";

describe("help", () => {
  test("names every command and exits with 0", async () => {
    const { code, out } = await holdpoint(["--help"]);
    expect(code).toBe(0);
    const commands = [
      "run",
      "runs",
      "workflows",
      "show",
      "pause",
      "resume",
      "cancel",
      "decisions",
      "effect",
      "channel",
    ];
    for (const word of [...commands, "config", "server", "demo"]) expect(out).toMatch(new RegExp(`^  ${word}\\b`, "m"));
    fits(out);
  });

  /** The commands below some words, as help lists them; a group is replaced by its own. */
  async function commandsBelow(words: readonly string[]): Promise<string[]> {
    const { out } = await holdpoint([...words, "--help"]);
    const listed = [...(out.split("Commands:\n")[1] ?? "").matchAll(/^ {2}([a-z-]+)/gm)].map(([, word = ""]) => word);
    if (listed.length === 0) return [words.join(" ")];
    const below = listed.filter((word) => word !== "help").map((word) => commandsBelow([...words, word]));
    return (await Promise.all(below)).flat();
  }

  test("every command is described in docs/cli.md, and nothing else is", async () => {
    const page = readFileSync(fileURLToPath(new URL("../../docs/cli.md", import.meta.url)), "utf8");
    const cells =
      page
        .split("## Commands")[1]
        ?.split("\n## ")[0]
        ?.match(/^\| (`.*?`) \|/gm) ?? [];
    const described = cells
      .flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code))
      .flatMap((code) => {
        const [first = "", second = ""] = code.replaceAll("\\|", "|").split(" ");
        return /^[a-z-]+(\|[a-z-]+)*$/.test(second) ? second.split("|").map((word) => `${first} ${word}`) : [first];
      });
    expect(described.toSorted()).toEqual((await commandsBelow([])).toSorted());
  });

  test("the version is the package's", async () => {
    const { version } = JSON.parse(
      readFileSync(fileURLToPath(new URL("../../package.json", import.meta.url)), "utf8"),
    ) as { version: string };
    expect(await holdpoint(["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
  });

  test("a group without a word shows its help and fails", async () => {
    const { code, err } = await holdpoint(["effect"]);
    expect(code).toBe(EXIT.usage.code);
    expect(err).toContain("settle");
  });
});

describe("unknown words", () => {
  test.each([
    [["rnus"], "rnus", "runs"],
    [["decision"], "decision", "decisions"],
    [["effect", "setle", "e-1", "applied"], "setle", "settle"],
    [["runs", "--jsn"], "--jsn", "--json"],
    [["effect", "settle", "e-1", "notapplied"], "notapplied", "notApplied"],
    [["channel", "recover", "e-1", "confrim"], "confrim", "confirm"],
  ])("%j is told what it probably meant", async (args, given, meant) => {
    const { code, out, err } = await holdpoint(args);
    expect(code).toBe(EXIT.usage.code);
    expect(out).toBe("");
    expect(err).toContain(given);
    expect(err.replace(/\s+/g, " ")).toContain(`Did you mean ${meant}?`);
    expect(err).toContain("(HP901)");
    expect(err).toContain("To do:");
  });

  test.each([
    [["show"], "missing required argument 'run'"],
    [["show", "a", "b"], "too many arguments"],
    [["runs", "--limit", "0"], "whole number from 1 to 256"],
    [["runs", "--limit", "ten"], 'is "ten"'],
    [["run", "x.workflow.ts", "--input", "{"], "is not valid JSON"],
    [["run", "x.workflow.ts", "--input", "@/nonexistent.json"], "cannot be read"],
    [["effect", "settle", "e-1", "retry", "--result", "1"], 'belongs to "applied"'],
    [["demo", "--answer", "replan="], "--answer"],
    [["demo", "--answer", "aprove"], "did you mean approve?"],
    [["demo", "--answer", "approve", "--answer", "stop=now"], "takes no text"],
  ])("%j says what is wrong", async (args, words) => {
    const { code, err } = await holdpoint(args);
    expect(code).toBe(EXIT.usage.code);
    expect(err.replace(/\s+/g, " ").toLowerCase()).toContain(words.toLowerCase());
  });

  test.each([
    [["rnus", "--json"], "rnus"],
    [["--json"], "No command"],
    [["effect", "--json"], "No command"],
  ])("with --json %j is one document on stdout and nothing on stderr", async (args, words) => {
    const { code, out, err } = await holdpoint(args);
    expect(code).toBe(EXIT.usage.code);
    expect(err).toBe("");
    expect(JSON.parse(out)).toMatchObject({
      schema: "holdpoint.cli.v1",
      ok: false,
      error: { code: "HP901", kind: "usage", message: expect.stringContaining(words), remedy: expect.any(String) },
    });
  });
});

describe("nearest", () => {
  test("a word with one slip finds itself again", () => {
    const words = ["applied", "notApplied", "retry"];
    fc.assert(
      fc.property(fc.constantFrom(...words), fc.nat(), (word, at) => {
        const i = at % word.length;
        return nearest(word.slice(0, i) + word.slice(i + 1), words) === word;
      }),
    );
  });

  test("nothing is suggested for a word that is like none", () => {
    expect(nearest("xyzzyxyzzy", ["run", "show"])).toBeUndefined();
  });
});

describe("exit codes", () => {
  test("every kind of error has a code that is not 0 and stands in the table", () => {
    const table: number[] = Object.values(EXIT).map(({ code }) => code);
    for (const [kind, { code }] of Object.entries(ERRORS)) {
      const exit = exitCodeOf({ kind: kind as ErrorKind, code });
      expect(exit, kind).not.toBe(0);
      expect(table, kind).toContain(exit);
    }
  });

  test("no two entries share a number", () => {
    const codes = Object.values(EXIT).map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
  });

  test("every final state of a run has its own", () => {
    const finals = Object.keys(RUN_STATES).filter((state) => isFinal("run", state));
    const codes = finals.map((state) => exitCodeOfRun(state));
    expect(new Set(codes).size).toBe(finals.length);
    expect(exitCodeOfRun("completed")).toBe(0);
  });

  test.each(["HP301", "HP302", "HP303", "HP304", "HP305"])("a run that failed by %s had no usable workflow", (code) => {
    expect(exitCodeOfRun("failed", code)).toBe(EXIT.workflow.code);
  });

  test("any other error of a failed run is the run's own", () => {
    for (const code of ["HP202", "HP404", "HP3050"]) expect(exitCodeOfRun("failed", code)).toBe(EXIT.runFailed.code);
    expect(exitCodeOfRun("cancelled", "HP302")).toBe(EXIT.runCancelled.code);
  });

  test("all of them are in docs/cli.md", () => {
    const page = readFileSync(fileURLToPath(new URL("../../docs/cli.md", import.meta.url)), "utf8");
    for (const { code, when } of Object.values(EXIT)) expect(page).toContain(`| ${code} | ${when} |`);
  });
});
