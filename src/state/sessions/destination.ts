/** `pi` as a destination stands for the session of the run that it is about. */
import { PI, sessionDestination } from "../../contracts/config.ts";
import { HoldpointError, type ErrorRecord } from "../../contracts/errors.ts";
import type { Reader } from "../statements.ts";
import { bindingOf } from "./bindings.ts";

/** The destination itself, with the session of the run where it is Pi; and why nothing can be sent there, if so. */
export function placed(db: Reader, destination: string, runNo: number): { to: string; error: ErrorRecord | null } {
  if (destination !== PI) return { to: destination, error: null };
  const binding = bindingOf(db, runNo);
  if (binding !== undefined) return { to: sessionDestination(binding.sessionId), error: null };
  const error = new HoldpointError(
    "noSession",
    "The run was not started from a session of Pi, so none shows this card.",
  );
  return { to: PI, error: error.toRecord() };
}
