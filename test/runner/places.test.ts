import { afterEach, expect, test } from "vitest";
import { isOwn, loadsWorkflow } from "../../src/runner/loading/places.ts";

afterEach(() => loadsWorkflow("/p/a.workflow.ts"));

test.each([
  ["/p/a.workflow.ts", "/p/helper.ts", true],
  ["/p/a.workflow.ts", "/p/node_modules/dep/index.js", false],
  ["/p/node_modules/holdpoint/docs/a.workflow.ts", "/p/node_modules/holdpoint/docs/a.workflow.ts", true],
  ["/p/node_modules/holdpoint/docs/a.workflow.ts", "/p/node_modules/dep/index.js", false],
  ["/p/node_modules/holdpoint/docs/a.workflow.ts", "/p/node_modules/holdpoint/node_modules/dep/index.js", false],
  ["/p/node_modules/@org/flows/a.workflow.ts", "/p/node_modules/@org/flows/lib/b.ts", true],
  ["/p/node_modules/@org/flows/a.workflow.ts", "/p/node_modules/@org/other/b.ts", false],
])("of the workflow %s, the file %s is its own: %s", (workflow, path, own) => {
  loadsWorkflow(workflow);
  expect(isOwn(path)).toBe(own);
});
