// What the extension makes of its surroundings: ids of tool calls, and the program that may be a Node.

import { expect, test } from "vitest";

import { nodeCandidates } from "../../../adapters/pi/extension/server-node.ts";
import { keyOf } from "../../../adapters/pi/extension/tool/execute.ts";
import { WIRE } from "../../../src/contracts/limits.ts";

test("an id of a tool call that is longer than a frame takes is hashed, the same each time", () => {
  const long = `call_1|${"x".repeat(450)}`;
  expect(keyOf("call_1")).toBe("call_1");
  expect(keyOf(long)).toBe(keyOf(long));
  expect(keyOf(long)).not.toBe(keyOf(`${long}y`));
  expect(Buffer.byteLength(keyOf(long))).toBeLessThanOrEqual(WIRE.idBytes);
});

test("Pi's own binary is never tried as a Node", () => {
  const node = { node: "20.20.0" } as unknown as NodeJS.ProcessVersions;
  const bun = { ...node, bun: "1.3.0" } as unknown as NodeJS.ProcessVersions;
  expect(nodeCandidates({ execPath: "/usr/bin/node", versions: node })).toEqual(["/usr/bin/node", "node"]);
  expect(nodeCandidates({ execPath: "/opt/pi", versions: bun })).toEqual(["node"]);
  expect(nodeCandidates({ execPath: "/opt/node", versions: bun })).toEqual(["node"]);
  expect(nodeCandidates({ execPath: "/opt/pi", versions: node })).toEqual(["node"]);
});
