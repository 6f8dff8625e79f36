// The link of a session ends where trying again is of no use.

import { expect, test } from "vitest";

import { Life } from "../../../adapters/pi/extension/life.ts";
import { Link, type LinkHost } from "../../../adapters/pi/extension/link/link.ts";
import { HoldpointError } from "../../../src/contracts/errors.ts";

test("a server of another version is asked once, and the link is over with its reason", async () => {
  const said: [string, string | undefined][] = [];
  let asked = 0;
  const host = {
    life: new Life(),
    socketPath: () => {
      asked += 1;
      return Promise.reject(new HoldpointError("versionSkew", "The server is older."));
    },
    onState: (state: string, why?: string) => said.push([state, why]),
  };
  await new Link(host as unknown as LinkHost).run();
  expect(asked).toBe(1);
  expect(said.at(-1)).toEqual(["over", "The server is older."]);
});
