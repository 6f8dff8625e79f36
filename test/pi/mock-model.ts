/**
 * A model server on the loopback: the OpenAI chat-completions stream as far as Pi uses it. What it answers is scripted by
 * the test that asked for it; every request is kept, so that a test can say what a model was told.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ToolUse {
  readonly name: string;
  readonly args: unknown;
}

/** One answer of the model. */
export interface Reply {
  readonly text?: string;
  readonly calls?: readonly ToolUse[];
  /** An HTTP error instead of an answer. */
  readonly status?: number;
  /** The stream begins and never ends. */
  readonly hang?: boolean;
}

export interface ModelRequest {
  /** From 1, for this model. */
  readonly number: number;
  /** Everything that was said, in order, as plain text by role. */
  readonly messages: readonly { readonly role: string; readonly text: string }[];
  readonly tools: readonly string[];
  /** The text of the last message. */
  readonly last: string;
  /** The last request id that a step named. */
  readonly requestId: string;
}

export type Script = (request: ModelRequest) => Reply | Promise<Reply>;

export interface MockModel {
  readonly baseUrl: string;
  readonly requests: readonly ModelRequest[];
}

export class MockServer {
  readonly #server: Server;
  readonly #models = new Map<string, { script: Script; requests: ModelRequest[] }>();

  constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  model(name: string, script: Script): MockModel {
    const requests: ModelRequest[] = [];
    this.#models.set(name, { script, requests });
    return { baseUrl: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${name}/v1`, requests };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const model = this.#models.get((request.url ?? "").split("/")[1] ?? "");
    if (model === undefined || request.url?.endsWith("/chat/completions") !== true) {
      response.writeHead(404).end("{}");
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = read(JSON.parse(Buffer.concat(chunks).toString("utf8")) as Body, model.requests.length + 1);
    model.requests.push(asked);
    answer(response, await model.script(asked));
  }
}

interface Body {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

function read(body: Body, number: number): ModelRequest {
  const messages = body.messages.map(({ content, role }) => ({ role, text: textOf(content) }));
  const users = messages.filter(({ role }) => role === "user").map(({ text }) => text);
  const requestId = [...users.join("\n").matchAll(/requestId "((?:q|request)-[0-9a-f]+)"/g)].at(-1)?.[1] ?? "none";
  const tools = (body.tools ?? []).map((tool) => tool.function.name);
  return { number, messages, tools, last: messages.at(-1)?.text ?? "", requestId };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as { text?: string }[]).map(({ text }) => text ?? "").join("");
}

function answer(response: ServerResponse, { calls = [], hang = false, status, text }: Reply): void {
  if (status !== undefined) {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: `scripted failure ${status}`, type: "scripted" } }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (choices: unknown[], more: object = {}): void => {
    const head = { id: "m", object: "chat.completion.chunk", created: 1, model: "mock-1" };
    response.write(`data: ${JSON.stringify({ ...head, choices, ...more })}\n\n`);
  };
  const delta = (part: object, finish: string | null = null): void =>
    send([{ index: 0, delta: part, finish_reason: finish }]);
  delta({ role: "assistant", content: "" });
  if (text !== undefined) delta({ content: text });
  for (const [index, { args, name }] of calls.entries()) {
    const id = `call_${Math.random().toString(36).slice(2)}`;
    delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: JSON.stringify(args) } }] });
  }
  if (hang) return;
  delta({}, calls.length > 0 ? "tool_calls" : "stop");
  send([], { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } });
  response.end("data: [DONE]\n\n");
}
