/**
 * Entry of the probing child: one for each server that has monitors to look at. It makes the probes that it is told to make, many at a
 * time, and tells what it saw. It must not: judge more than the expectations of one check, remember anything, or outlive its pipe.
 */
import { messageOf, stackOf } from "../../contracts/errors.ts";
import { toProbesSchema, type FromProbes, type ToProbes } from "../../contracts/protocol/probes.ts";
import { openChildPipe } from "../../contracts/wire/child.ts";
import { tidyAtOnce, tidyUp } from "../leaving.ts";

// Names are looked up, and files read, by threads: a name server that does not answer must not hold up everything else.
process.env["UV_THREADPOOL_SIZE"] = "64";

const port = openChildPipe<ToProbes, FromProbes>(toProbesSchema, tidyUp);

function crash(what: string, error: unknown): never {
  process.stderr.write(`${what}: ${stackOf(error) ?? messageOf(error)}\n`);
  tidyAtOnce();
  process.exit(1);
}
process.on("uncaughtException", (error) => crash("uncaught exception", error));
process.on("unhandledRejection", (error) => crash("unhandled rejection", error));

const { serveProbes } = await import("./serve.ts");
await serveProbes(port);
await tidyUp();
process.exit(0);
