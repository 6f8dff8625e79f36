/**
 * Entry of a runner: a child that loads one workflow and executes it, for one launch or several.
 *
 * This folder owns loading user code and the runner's side of runner.v1. It must not open the database, decide anything,
 * or outlive its pipe. Nothing but what the pipe needs is imported before the pipe is open.
 */
import { messageOf, stackOf } from "../contracts/errors.ts";
import { toRunnerSchema, type FromRunner, type ToRunner } from "../contracts/protocol/runner.ts";
import { openChildPipe } from "../contracts/wire/child.ts";
import { tidyAtOnce, tidyUp } from "./leaving.ts";

const port = openChildPipe<ToRunner, FromRunner>(toRunnerSchema, tidyUp);

/** An error that user code left behind ends the runner: its state cannot be trusted any more. */
function crash(what: string, error: unknown): never {
  const text = stackOf(error) ?? messageOf(error);
  process.stderr.write(`${what}: ${text}\n`);
  tidyAtOnce();
  process.exit(1);
}
process.on("uncaughtException", (error) => crash("uncaught exception", error));
process.on("unhandledRejection", (error) => crash("unhandled rejection", error));

const { serve } = await import("./serve.ts");
// From here on, because the maps of what is loaded are read with it: those of workflows are wanted, ours only when a stack is shown.
process.setSourceMapsEnabled(true);
const end = await serve(port);
if (end.kind === "broken") crash("runner", end.error);
await tidyUp();
process.exit(0);
