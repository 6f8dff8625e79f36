/** Probes of a port and of a certificate: one connection each, ended as soon as what was asked is known. */
import net from "node:net";
import tls from "node:tls";
import { MONITOR } from "../../contracts/limits.ts";
import type { CheckOf } from "../../contracts/monitor/probe.ts";
import { networkFinding, type Phase, withinTime } from "./connect.ts";
import { detailOf, failed, FINE, type Seen } from "./expect.ts";

const DAY_MS = 86_400_000;

export function probeTcp({ target, expect }: CheckOf<"tcp">, timeoutMs: number): Promise<Seen> {
  const { host, port } = target;
  return withinTime(timeoutMs, (signal, phase) => {
    const socket = net.connect({ host, port, signal });
    return settle(socket, host, phase, "connect", (resolve) => {
      const { greeting } = expect;
      if (greeting === undefined) return resolve(FINE);
      phase("answer");
      let said = "";
      const judge = (over: boolean): void => {
        if (said.includes(greeting)) return resolve(FINE);
        if (!over && said.length < MONITOR.textChars) return;
        const seen = said === "" ? null : detailOf(said);
        resolve(failed({ code: "greeting", expected: detailOf(greeting), seen }));
      };
      socket.on("data", (chunk: Buffer) => {
        said += chunk.toString("utf8");
        judge(false);
      });
      socket.once("end", () => judge(true));
    });
  });
}

export function probeCertificate(
  { target, expect }: CheckOf<"tls-expiry">,
  timeoutMs: number,
  now: number,
): Promise<Seen> {
  const { host, port, serverName } = target;
  const name = serverName ?? host;
  return withinTime(timeoutMs, (signal, phase) => {
    const socket = tls.connect({
      host,
      port,
      // An address is no server name.
      ...(net.isIP(name) === 0 ? { servername: name } : {}),
      // What is wrong with it is told, below.
      rejectUnauthorized: false,
    });
    signal.addEventListener("abort", () => socket.destroy(), { once: true });
    socket.once("connect", () => phase("secure"));
    return settle(socket, host, phase, "secureConnect", (resolve) => {
      const ends = Date.parse(socket.getPeerCertificate().valid_to);
      const wrong = socket.authorizationError as unknown;
      const reason = wrong instanceof Error ? ((wrong as NodeJS.ErrnoException).code ?? wrong.message) : String(wrong);
      if (Number.isNaN(ends)) return resolve(failed({ code: "tls", detail: "no certificate" }));
      const daysLeft = Math.floor((ends - now) / DAY_MS);
      const short = daysLeft < expect.daysLeft;
      if (short) return resolve(failed({ code: "certificate", daysLeft, expected: expect.daysLeft }));
      resolve(socket.authorized ? FINE : failed({ code: "tls", detail: detailOf(reason) }));
    });
  });
}

/** Waits for `event` of a connection, then for what `then` makes of it; the connection is gone afterwards, whatever came. */
function settle(
  socket: net.Socket,
  host: string,
  phase: (now: Phase) => void,
  event: "connect" | "secureConnect",
  then: (resolve: (seen: Seen) => void) => void,
): Promise<Seen> {
  let now: Phase = "lookup";
  socket.once("lookup", () => {
    now = "connect";
    phase(now);
  });
  socket.once("connect", () => (now = event === "connect" ? "answer" : "secure"));
  return new Promise<Seen>((resolve) => {
    socket.once("error", (error) => resolve(failed(networkFinding(error, host, now))));
    socket.once(event, () => then(resolve));
    socket.once("close", () => resolve(failed({ code: "reset" })));
  }).finally(() => socket.destroy());
}
