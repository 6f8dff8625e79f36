/** The conformance suite on the engine that we ship. */
import { describe } from "vitest";
import { storeConformance } from "./conformance.ts";
import { openTemp } from "./fixture.ts";

describe("the store on SQLite", () => {
  storeConformance(async () => openTemp().store);
});
