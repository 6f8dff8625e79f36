/** A set-up whose questions another program shows: everything that is said is a line of JSON. */
import type { SetupDialog } from "../../contracts/protocol/setup-dialog.ts";
import { Context, type Io } from "../context.ts";
import { Prompter } from "../prompts.ts";

/** The context and the prompter of such a set-up. */
export function asDialog(context: Context): { readonly context: Context; readonly prompter: Prompter } {
  const tell = (frame: SetupDialog): void => context.io.out(`${JSON.stringify(frame)}\n`);
  const say = (text: string): void => {
    for (const line of text.replace(/\n$/, "").split("\n")) tell({ type: "say", text: line });
  };
  const io: Io = { ...context.io, out: say, err: say, terminal: false };
  const { command, home } = context;
  return {
    context: new Context(io, command, { plain: true, ...(home === undefined ? {} : { home }) }),
    prompter: new Prompter(io, tell),
  };
}
