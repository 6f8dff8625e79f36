/**
 * One HTTP request on a connection of its own, read to its last byte. A redirect is an answer like any other: it is told, not followed,
 * so that a monitor never says "up" of another address than its own.
 */
import http from "node:http";
import https from "node:https";
import { MONITOR } from "../../contracts/limits.ts";
import type { Finding } from "../../contracts/monitor/finding.ts";
import type { CheckOf } from "../../contracts/monitor/probe.ts";
import { networkFinding, type Phase, withinTime } from "./connect.ts";
import { detailOf, failed, FINE, jsonFinding, type Seen } from "./expect.ts";

type HttpCheck = CheckOf<"http">;
interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** Idle sockets are not kept: a monitor wants to know whether a new visitor gets in. */
const AGENTS = { "http:": new http.Agent({ keepAlive: false }), "https:": new https.Agent({ keepAlive: false }) };

export function probeHttp(check: HttpCheck, timeoutMs: number): Promise<Seen> {
  const url = new URL(check.target.url);
  return withinTime(timeoutMs, async (signal, phase) => {
    let now: Phase = "lookup";
    const answer = await ask(check, url, signal, (next) => {
      now = next;
      phase(next);
    }).catch((error: unknown) => networkFinding(error, url.hostname, now));
    if ("code" in answer) return failed(answer);
    const finding = judge(answer, check);
    return finding === undefined ? FINE : failed(finding);
  });
}

function ask(
  { target, expect }: HttpCheck,
  url: URL,
  signal: AbortSignal,
  phase: (now: Phase) => void,
): Promise<Answer | Finding> {
  const secure = url.protocol === "https:";
  const keep = expect.body !== undefined || (expect.json?.length ?? 0) > 0;
  return new Promise((resolve, reject) => {
    const request = (secure ? https : http).request(url, {
      method: target.method,
      agent: AGENTS[secure ? "https:" : "http:"],
      headers: { "user-agent": "holdpoint-monitor", accept: "*/*", ...target.headers },
      signal,
    });
    request.once("socket", (socket) => {
      socket.once("lookup", () => phase("connect"));
      socket.once("connect", () => phase(secure ? "secure" : "answer"));
      socket.once("secureConnect", () => phase("answer"));
    });
    request.once("error", reject);
    request.once("response", (response) => {
      const kept: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        if (keep && bytes < MONITOR.bodyBytes) kept.push(chunk.subarray(0, MONITOR.bodyBytes - bytes));
        bytes += chunk.length;
        if (bytes <= MONITOR.answerBytes) return;
        resolve({ code: "tooLarge", bytes });
        request.destroy();
      });
      response.once("error", reject);
      response.once("end", () => {
        const { headers, statusCode = 0 } = response;
        resolve({ status: statusCode, headers, body: Buffer.concat(kept).toString("utf8") });
      });
    });
    request.end(target.body);
  });
}

function judge({ status, headers, body }: Answer, { expect }: HttpCheck): Finding | undefined {
  const wanted = expect.status === undefined ? undefined : [expect.status].flat();
  const fits = wanted === undefined ? status >= 200 && status <= 299 : wanted.includes(status);
  if (!fits) {
    const to = headers.location;
    if (status >= 300 && status <= 399 && to !== undefined)
      return { code: "redirect", seen: status, to: detailOf(placeOf(to)) };
    return { code: "status", seen: status, expected: wanted === undefined ? "200–299" : wanted.join(", ") };
  }
  for (const [header, expected] of Object.entries(expect.headers ?? {})) {
    const value = headers[header.toLowerCase()];
    const seen = Array.isArray(value) ? value.join(", ") : value;
    if (seen?.includes(expected) === true) continue;
    const shown = seen === undefined ? null : detailOf(seen);
    return { code: "header", header: detailOf(header), expected: detailOf(expected), seen: shown };
  }
  if (expect.body !== undefined && !body.includes(expect.body))
    return { code: "body", expected: detailOf(expect.body) };
  return jsonFinding(body, expect.json);
}

/** Without query and fragment, which may hold a key. */
function placeOf(location: string): string {
  return location.replace(/[?#].*$/s, "");
}
