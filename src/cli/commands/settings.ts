/**
 * `holdpoint settings | change-settings | queue-follow-up | remove-follow-up`: what a run works with, and what follows it.
 */
import type { SettingsScope } from "../../client/index.ts";
import type { Context } from "../context.ts";
import { readJson } from "../input.ts";
import { clean, hang } from "../layout.ts";
import { wholeNumber } from "../values.ts";
import { expected } from "./control.ts";
import { jsonLine } from "./show.ts";

type Options = Record<string, unknown>;

export async function settings(context: Context, args: string[]): Promise<void> {
  const found = await context.withClient((client) => client.call("run.settings", { run: args[0] ?? "" }));
  context.result(found);
  if (found.scopes.length === 0) {
    context.line("This run has no settings, or has not come to use them yet.");
    return;
  }
  for (const scope of found.scopes) one(context, scope);
}

function one(context: Context, scope: SettingsScope): void {
  const place = scope.mount === "" ? "The run" : `Mount ${clean(scope.mount)}, invocation ${scope.invocation}`;
  context.line(context.paint("bold", `${place}, version ${scope.changeNumber}`));
  const add = (text: string): void => context.lines(hang(text, context.width, "  ", "    "));
  if (scope.description !== null) add(clean(scope.description));
  add(scope.value === null ? "Nothing of it may be read here." : jsonLine(scope.value, context.width - 4));
  const paths = scope.changeable.map((path) => (path === "" ? "the whole value" : clean(path)));
  add(paths.length === 0 ? "Nothing of it may be changed here." : `May be changed: ${paths.join(", ")}`);
}

export async function changeSettings(context: Context, args: string[], options: Options): Promise<void> {
  const patch = await readJson(args[1] ?? "", "the change", context.io);
  const expect = options["expect"];
  const payload = {
    run: args[0] ?? "",
    mount: typeof options["mount"] === "string" ? options["mount"] : "",
    patch,
    expectedChangeNumber:
      typeof expect === "string" ? wholeNumber(expect, "--expect", 0, Number.MAX_SAFE_INTEGER) : null,
  };
  const ack = await context.withClient((client) => client.call("run.changeSettings", payload, expected(options)));
  context.result(ack);
  context.line(`The settings have version ${ack.changeNumber} now; steps that begin from now on see it.`);
}

export async function queueFollowUp(context: Context, args: string[], options: Options): Promise<void> {
  const payload = { run: args[0] ?? "", prompt: args[1] ?? "" };
  const ack = await context.withClient((client) => client.call("followUp.queue", payload, expected(options)));
  context.result(ack);
  context.line(
    `Follow-up ${ack.orderNumber} is ${ack.status}; it goes to the Pi session of the run when the run has succeeded.`,
  );
}

export async function removeFollowUp(context: Context, args: string[], options: Options): Promise<void> {
  const payload = { run: args[0] ?? "", followUp: args[1] ?? "" };
  const ack = await context.withClient((client) => client.call("followUp.remove", payload, expected(options)));
  context.result(ack);
  context.line(`Follow-up ${ack.orderNumber} is ${ack.status}.`);
}
