/** The stand-in as a process of its own, driven through its control channel. */
import { expect, onTestFinished, test } from "vitest";
import { launchSim, SimControl } from "../../../../adapters/telegram/sim/control.ts";
import type { SimProcess } from "../../../../adapters/telegram/sim/control.ts";
import { botMessages, startSim } from "../../../../adapters/telegram/sim/index.ts";
import type { SimOptions } from "../../../../adapters/telegram/sim/index.ts";
import { ANN } from "./api.ts";

const options: SimOptions = { users: [{ id: ANN, firstName: "Ann" }], chats: [{ id: ANN, type: "private" }] };

async function launch(): Promise<SimProcess> {
  const child = await launchSim(options);
  onTestFinished(() => child.close());
  return child;
}

const api = async (child: SimProcess, method: string, params: object) =>
  (await fetch(`${child.url}/bot${child.token}/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(params),
  }).then((response) => response.json())) as { ok: boolean; result: { message_id: number }[] };

test("another process sends, taps, waits, sets faults and takes the server down and up", async () => {
  const child = await launch();
  const { control } = child;
  expect(child.pid).not.toBe(process.pid);
  const waiting = control.waitFor((state) => botMessages(state, ANN)[0], { what: "the card" });
  const reply_markup = { inline_keyboard: [[{ text: "Approve", callback_data: "x" }]] };
  await api(child, "sendMessage", { chat_id: ANN, text: "Deploy?", reply_markup });
  const card = await waiting;
  const { updateId } = await control.tap(ANN, ANN, card.id, "Approve");
  const said = await control.reply(ANN, ANN, card.id, "use the blue pool");
  expect(said.updateId).toBe((updateId as number) + 1);
  expect((await api(child, "getUpdates", {})).result).toHaveLength(2);

  await control.setFault({ kind: "reject", status: 400, description: "Bad Request: no" });
  expect((await api(child, "getMe", {})).ok).toBe(false);
  await control.setFault({ kind: "reject", status: 400, description: "Bad Request: no", times: "always" });
  await control.clearFaults();
  expect((await api(child, "getMe", {})).ok).toBe(true);

  await control.server.down();
  await expect(api(child, "getMe", {})).rejects.toThrow("fetch failed");
  expect((await control.state()).chats[0]?.messages).toHaveLength(2);
  await control.server.up();
  expect((await api(child, "getMe", {})).ok).toBe(true);
  await control.clock.set(5000);
  expect(await control.clock.now()).toBe(5000);
});

test("a wrong action is told to the caller, and a wait that is in vain ends with what it waited for", async () => {
  const child = await launch();
  await expect(child.control.tap(ANN, ANN, 1, "Approve")).rejects.toThrow("no message 1 in chat 1001");
  await expect(child.control.waitFor(() => false, { timeoutMs: 50, what: "a miracle" })).rejects.toThrow("a miracle");
});

test("it ends when its standard input closes", async () => {
  const child = await launchSim(options);
  await child.close();
  await expect(child.control.state()).rejects.toThrow("fetch failed");
  expect(() => process.kill(child.pid, 0)).toThrow("ESRCH");
});

test("it says in one line why it cannot start", async () => {
  await expect(launchSim({ token: "nonsense" })).rejects.toThrow(
    /^the stand-in ended before it was ready: the Telegram stand-in cannot start: the token must look like .*$/u,
  );
});

test("the control channel on the Bot API port refuses browsers and unknown actions", async () => {
  const sim = await startSim(options);
  onTestFinished(() => sim.close());
  expect((await new SimControl(sim.url).state()).chats).toHaveLength(1);
  const post = async (path: string, headers: Record<string, string>, body = "[]") =>
    (await fetch(`${sim.url}/_sim/${path}`, { method: "POST", headers, body })).status;
  const json = { "content-type": "application/json" };
  expect(await post("faults/clear", json)).toBe(200);
  expect(await post("faults/clear", { ...json, origin: "https://example.org" })).toBe(403);
  expect(await post("faults/clear", { "content-type": "text/plain" })).toBe(415);
  expect(await post("faults/match", json)).toBe(404);
  expect(await post("faults/clear", json, "{}")).toBe(400);
  const closed = await startSim({ ...options, control: false });
  onTestFinished(() => closed.close());
  expect((await fetch(`${closed.url}/_sim/state`)).status).toBe(404);
});
