// The widget in Pi: at most ten lines that say what the view says, drawn again only when they change, and never after the session's end.
import { afterEach, beforeEach, expect, test } from "vitest";
import { Life } from "../../../adapters/pi/extension/life.ts";
import type { PiComponent, PiContext } from "../../../adapters/pi/extension/pi-api.ts";
import { Widget } from "../../../adapters/pi/extension/widget.ts";
import { displayWidth } from "../../../renderers/terminal/index.ts";
import { exampleView } from "./example-view.ts";

type Factory = (tui: { requestRender(): void }, theme: { fg(colour: string, text: string): string }) => PiComponent;

let life: Life;
let drawn: (string[] | Factory | undefined)[];
let statuses: (string | undefined)[];

function context(mode: "tui" | "rpc"): PiContext {
  const ui = {
    setWidget: (_key: string, content: string[] | Factory | undefined) => drawn.push(content),
    setStatus: (_key: string, text: string | undefined) => statuses.push(text),
  };
  return { mode, hasUI: true, ui } as unknown as PiContext;
}

beforeEach(() => {
  life = new Life();
  drawn = [];
  statuses = [];
});
afterEach(() => life.end());

test("over RPC it is lines: the run, the current node, and what waits for a person", () => {
  life.see(context("rpc"));
  const widget = new Widget(life);
  widget.show(exampleView());
  const lines = drawn.at(-1) as string[];
  expect(lines.length).toBeLessThanOrEqual(10);
  expect(lines[0]).toMatch(/deploy · run 7k3f · waits/);
  expect(lines.some((line) => line.includes("approve"))).toBe(true);
  expect(lines.at(-1)).toContain("/workflow answer");
  expect(statuses.at(-1)).toContain("deploy");
});

test("what says the same is not drawn again; a server that is away is", () => {
  life.see(context("rpc"));
  const widget = new Widget(life);
  widget.show(exampleView());
  widget.reachable(true);
  widget.reachable(true);
  expect(drawn).toHaveLength(1);
  widget.reachable(false);
  expect(drawn).toHaveLength(2);
  expect((drawn[1] as string[])[0]).not.toEqual((drawn[0] as string[])[0]);
});

test("scrolling moves the nodes within their bounds, and another run begins at its current node", () => {
  life.see(context("rpc"));
  const widget = new Widget(life);
  widget.show(exampleView());
  const [atNode] = drawn as string[][];
  widget.scroll(-100);
  expect((drawn.at(-1) as string[]).some((line) => line.includes("node-0"))).toBe(true);
  widget.scroll(100);
  expect((drawn.at(-1) as string[]).some((line) => line.includes("node-9"))).toBe(true);
  const other = exampleView();
  if (other.run !== null) other.run.summary.runId = "run-2";
  widget.show(other);
  expect((drawn.at(-1) as string[]).slice(1)).toEqual(atNode?.slice(1));
});

test("in the terminal it is a component that fits every width and renders nothing after the end", () => {
  life.see(context("tui"));
  const widget = new Widget(life);
  widget.show(exampleView());
  const factory = drawn.at(-1) as Factory;
  const component = factory({ requestRender: () => undefined }, { fg: (_colour, text) => text });
  for (const width of [1, 20, 60, 100, 160]) {
    const lines = component.render(width);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
  }
  // The glyph of the status survives the narrowest of them.
  expect(component.render(3)[0]?.startsWith("◆")).toBe(true);
  life.end();
  expect(component.render(100)).toEqual([]);
  widget.show(exampleView());
  expect(drawn).toHaveLength(1);
});

test("a session without a run has no widget", () => {
  life.see(context("rpc"));
  const widget = new Widget(life);
  widget.show(exampleView());
  widget.show({ ...exampleView(), run: null });
  expect(drawn.at(-1)).toBeUndefined();
  expect(statuses.at(-1)).toBeUndefined();
});
