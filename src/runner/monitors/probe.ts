/** One probe of any kind. Resolves with what it saw; everything that the target can do is a finding, never an error. */
import type { MonitorCheck } from "../../contracts/monitor/probe.ts";
import type { Registrar } from "../shell/index.ts";
import { probeCommand } from "./command.ts";
import { failed, type Seen } from "./expect.ts";
import { probeFile } from "./file.ts";
import { probeHttp } from "./http.ts";
import { probeCertificate, probeTcp } from "./sockets.ts";

export interface ProbeContext {
  readonly timeoutMs: number;
  /** The server's time. */
  readonly now: number;
  readonly registrar: Registrar;
}

export function probe(check: MonitorCheck, { now, registrar, timeoutMs }: ProbeContext): Promise<Seen> {
  switch (check.type) {
    case "http":
      return probeHttp(check, timeoutMs);
    case "tcp":
      return probeTcp(check, timeoutMs);
    case "tls-expiry":
      return probeCertificate(check, timeoutMs, now);
    case "command":
      return probeCommand(check, timeoutMs, registrar);
    case "file":
      return probeFile(check, timeoutMs, now);
    case "heartbeat":
      return Promise.resolve(failed({ code: "notProbed", detail: "a heartbeat reports by itself" }));
  }
}
