import { Server } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import { hookPage } from "../../../src/server/system/hook-listener.ts";
import { afterTest } from "../../harness/cleanups.ts";

const none = (): void => undefined;

test("the page of webhooks outlives errors of its socket, and is served on once its port is free", async () => {
  const errors: string[] = [];
  const page = hookPage({ debug: none, info: none, warn: none, error: (_, text) => void errors.push(text) });
  afterTest(() => void page.close());
  const taken = createServer();
  await new Promise<void>((resolve) => void taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as AddressInfo;
  const address = { host: "127.0.0.1", port };
  const take = (): Promise<number> => Promise.resolve(202);
  await page.serve(address, take);
  expect(errors).toEqual(["webhooks cannot be served"]);
  await new Promise((resolve) => taken.close(resolve));
  const listened = vi.spyOn(Server.prototype, "listen");
  await page.serve(address, take);
  const server = listened.mock.contexts[0] as Server;
  listened.mockRestore();
  for (const code of ["EMFILE", "ENFILE"]) server.emit("error", new Error(code));
  expect(errors).toHaveLength(3);
  const answer = await fetch(`http://127.0.0.1:${port}/hook/code`, { method: "POST", body: "{}" });
  expect(answer.status).toBe(202);
});
