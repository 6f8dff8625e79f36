// The pictures of docs/pi.md are what is drawn now.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { withScreens } from "../../pi/screens.ts";

test("docs/pi.md shows what the renderers draw (made by `node --import jiti/register test/pi/screens.ts --write`)", () => {
  const page = readFileSync(new URL("../../../docs/pi.md", import.meta.url), "utf8");
  expect(withScreens(page)).toBe(page);
});
