/**
 * Entry of a resource runner: a child that loads one resource manager and runs its passes, or resolves one for `apply`.
 *
 * This folder owns loading managers and the runner's side of their pipe. It must not open the database, decide anything, or outlive its
 * pipe. Nothing but what the pipe needs is imported before the pipe is open.
 */
import { messageOf, stackOf } from "../../contracts/errors.ts";
import {
  toResourceRunnerSchema,
  type FromResourceRunner,
  type ToResourceRunner,
} from "../../contracts/protocol/resource-runner.ts";
import { openChildPipe } from "../../contracts/wire/child.ts";

const port = openChildPipe<ToResourceRunner, FromResourceRunner>(toResourceRunnerSchema);

/** An error that user code left behind ends the runner: its state cannot be trusted any more. */
function crash(what: string, error: unknown): never {
  process.stderr.write(`${what}: ${stackOf(error) ?? messageOf(error)}\n`);
  process.exit(1);
}
process.on("uncaughtException", (error) => crash("uncaught exception", error));
process.on("unhandledRejection", (error) => crash("unhandled rejection", error));

const { serve } = await import("./serve.ts");
process.setSourceMapsEnabled(true);
const end = await serve(port);
if (end.kind === "broken") crash("resource runner", end.error);
process.exit(0);
