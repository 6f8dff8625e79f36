/** What can happen to a connection, as a finding; and the time-out that covers everything from the look-up to the last byte. */
import { errorCodeOf } from "./error-code.ts";
import { messageOf } from "../../contracts/errors.ts";
import type { Finding } from "../../contracts/monitor/finding.ts";
import { detailOf, failed, type Seen } from "./expect.ts";

export type Phase = Extract<Finding, { code: "timeout" }>["phase"];

/** Errors of the network by their code. */
const BY_CODE: Readonly<Record<string, Finding["code"]>> = {
  ECONNREFUSED: "refused",
  ECONNRESET: "reset",
  EPIPE: "reset",
  ENOTFOUND: "lookup",
  EAI_AGAIN: "lookup",
  EAI_FAIL: "lookup",
  EAI_NODATA: "lookup",
  ENODATA: "lookup",
};
const TLS = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|UNABLE_TO|SELF_SIGNED|HOSTNAME_MISMATCH|EPROTO|INVALID_|ERR_OSSL)/;

/** `phase`: what was under way when it happened. */
export function networkFinding(error: unknown, host: string, phase: Phase): Finding {
  const code = errorCodeOf(error);
  const known = BY_CODE[code];
  if (known === "lookup") return { code: "lookup", host: detailOf(host) };
  if (known === "refused" || known === "reset") return { code: known };
  if (TLS.test(code)) return { code: "tls", detail: code === "EPROTO" ? reasonOf(error) : code };
  if (code.startsWith("HPE_")) return { code: "protocol", detail: code };
  if (phase === "secure" && code === "") return { code: "tls", detail: detailOf(messageOf(error)) };
  return { code: "unreachable", detail: detailOf(code === "" ? messageOf(error) : code) };
}

/** OpenSSL's own name of what went wrong in a handshake. */
function reasonOf(error: unknown): string {
  const reason = (error as { reason?: unknown }).reason;
  return detailOf(typeof reason === "string" ? reason : "EPROTO");
}

/**
 * Runs `work` until it settles or the time is over. `work` gets the signal that ends it, and says through `phase` how far it came.
 */
export async function withinTime(
  timeoutMs: number,
  work: (signal: AbortSignal, phase: (now: Phase) => void) => Promise<Seen>,
  first: Phase = "lookup",
): Promise<Seen> {
  let phase = first;
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Seen>((resolve) => {
    timer = setTimeout(() => {
      resolve(failed({ code: "timeout", seconds: Math.round(timeoutMs / 100) / 10, phase }));
      abort.abort();
    }, timeoutMs);
  });
  try {
    return await Promise.race([work(abort.signal, (now) => (phase = now)), late]);
  } finally {
    clearTimeout(timer);
  }
}
