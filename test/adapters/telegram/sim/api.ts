/** Shared by the tests of the stand-in: a small world, and plain Bot API calls without any client library. */
import { Agent, request } from "node:http";
import { onTestFinished } from "vitest";
import { startSim } from "../../../../adapters/telegram/sim/index.ts";
import type { Sim, SimOptions } from "../../../../adapters/telegram/sim/index.ts";

export const ANN = 1001;
export const BEA = 1002;
export const OPS = -100_200;
export const TEAM = -300;
export const NEWS = -100_400;

/** Ann and Bea, a forum, a basic group and a channel. Closed when the test ends. */
export async function smallWorld(options: SimOptions = {}): Promise<Sim> {
  const sim = await startSim({
    users: [
      { id: ANN, firstName: "Ann", username: "ann_example" },
      { id: BEA, firstName: "Bea" },
    ],
    chats: [
      { id: ANN, type: "private" },
      {
        id: OPS,
        type: "supergroup",
        title: "Ops",
        username: "ops_example",
        forum: true,
        topics: [{ id: 7, name: "Deploys" }],
      },
      { id: TEAM, type: "group", title: "Team" },
      { id: NEWS, type: "channel", title: "News" },
    ],
    ...options,
  });
  onTestFinished(() => sim.close());
  return sim;
}

export interface ApiAnswer {
  status: number;
  headers: Headers;
  body: {
    ok?: boolean;
    // The result's shape depends on the method; tests look into it freely.
    // oxlint-disable-next-line typescript/no-explicit-any
    result?: any;
    error_code?: number;
    description?: string;
    parameters?: Record<string, unknown>;
  };
}

/** A JSON call, as most clients make it. */
export async function call(sim: Sim, method: string, params: object = {}): Promise<ApiAnswer> {
  const response = await fetch(`${sim.url}/bot${sim.token}/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(params),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as ApiAnswer["body"] };
}

/** A call that must succeed; its result. */
// oxlint-disable-next-line typescript/no-explicit-any
export async function ok(sim: Sim, method: string, params: object = {}): Promise<any> {
  const { body } = await call(sim, method, params);
  if (body.ok !== true) throw new Error(`${method}: ${body.description}`);
  return body.result;
}

/** A call that must be refused: "<code> <description>". */
export async function refusal(sim: Sim, method: string, params: object = {}): Promise<string> {
  const { status, body } = await call(sim, method, params);
  if (body.ok !== false || status !== body.error_code)
    throw new Error(`${method} was not refused: ${JSON.stringify(body)}`);
  return `${body.error_code} ${body.description}`;
}

export interface WireResult {
  status?: number;
  text: string;
  /** The error that the caller sees, if any. */
  error?: string;
}

/** A call on a fresh connection that reports exactly what comes back, broken or not. */
export function wire(sim: Sim, method: string, params: object): Promise<WireResult> {
  const body = JSON.stringify(params);
  return new Promise((resolve) => {
    const result: WireResult = { text: "" };
    const finish = (error?: NodeJS.ErrnoException) => {
      if (error) result.error = error.code ?? error.message;
      resolve(result);
    };
    const sending = request(`${sim.url}/bot${sim.token}/${method}`, {
      method: "POST",
      agent: new Agent({ keepAlive: false }),
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    });
    sending.on("error", finish);
    sending.on("response", (response) => {
      result.status = response.statusCode ?? 0;
      response.on("data", (chunk: Buffer) => (result.text += chunk.toString()));
      response.on("error", finish);
      response.on("end", () => finish());
    });
    sending.end(body);
  });
}

export function keyboard(...names: string[]): object {
  return { inline_keyboard: [names.map((name) => ({ text: name, callback_data: name.toLowerCase() }))] };
}
