/**
 * `holdpoint decide <decision> <choice> [--text …]`: a person at the server's own terminal decides. They see the whole card and type its
 * fingerprint back, so that nothing is decided unseen; only where the audience names the destination `terminal`.
 */
import type { OperationResult } from "../../client/index.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { renderTerminalCard } from "../../../renderers/terminal/index.ts";
import { wordsIn } from "../../../renderers/text/index.ts";
import { usage, type Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { clean, hang } from "../layout.ts";
import { suggestion } from "../../contracts/nearest.ts";
import { Prompter, Stopped } from "../prompts.ts";

type Shown = OperationResult<"decision.show">;

/** Verdicts after which this answer stands. */
const STANDS = new Set(["accepted", "adopted", "recorded"]);

export async function decide(context: Context, args: string[], options: Record<string, unknown>): Promise<number> {
  const [decision = "", choice = ""] = args;
  if (context.io.stdin.isTTY !== true || !context.io.terminal) {
    throw new HoldpointError("answerRefused", "A decision at the terminal needs a terminal; nothing was decided.", {
      remedy: "Run it yourself at the server's own terminal, or answer on the channel that shows the card.",
    });
  }
  const given = typeof options["text"] === "string" ? options["text"] : null;
  return context.withClient(async (client) => {
    const shown = await client.call("decision.show", { decision });
    const pending = shown.state.status.kind === "pending";
    // Where it cannot count nobody has to read and type; the server refuses it, says why, and keeps that on record.
    const asked = shown.terminal && pending;
    const text = asked ? await confirmed(context, shown, choice, given) : given;
    const { card, requestDigest } = shown;
    const done = await client.call("decision.answer", {
      decision: shown.decisionId,
      requestDigest,
      choice,
      input: text,
      confirmed: asked,
    });
    const told = wordsIn(card.language).replyText(done.reply, {
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      reference: Date.now(),
      nameZone: true,
    });
    if (done.kind === "notAllowed") {
      const off = done.reply.code === "terminalOff";
      throw new HoldpointError("answerRefused", told, {
        remedy: off
          ? `Answer where the card is shown. To allow it here, add "terminal" to the destinations of "${shown.audience}" in config.json and run \`holdpoint server reload\`.`
          : "Ask somebody of the audience, or give your person this account (people.<id>.terminal in config.json).",
      });
    }
    context.result(done);
    context.lines(hang(clean(told), context.width, "", ""));
    return STANDS.has(done.kind) ? EXIT.ok.code : EXIT.state.code;
  });
}

/** Shows the card, asks for what is missing and for the fingerprint; returns the text of the answer. */
async function confirmed(context: Context, shown: Shown, choice: string, given: string | null): Promise<string | null> {
  const { card, fingerprint, state } = shown;
  const chosen = card.choices.find(({ id }) => id === choice);
  if (chosen === undefined) {
    throw usage(
      `"${choice}" is no choice of ${fingerprint}.`,
      suggestion(
        choice,
        card.choices.map(({ id }) => id),
      ),
    );
  }
  if (given !== null && !chosen.hasInput) throw usage(`"${choice}" takes no text.`, "Leave --text out.");
  const lines = renderTerminalCard(card, state, {
    columns: context.width,
    plain: context.plain,
    now: Date.now(),
    nameZone: true,
  });
  // Beside the one document of --json, and never part of it.
  for (const line of lines) context.io.err(`${line}\n`);
  const prompter = new Prompter(context.io);
  try {
    const text = chosen.hasInput && given === null ? await prompter.ask(`Text for "${clean(chosen.label)}"`) : given;
    const typed = await prompter.ask(`To decide "${clean(chosen.label)}", type ${fingerprint}`);
    if (typed.toLowerCase() === fingerprint) return text;
    throw new HoldpointError("answerRefused", `"${clean(typed)}" is not ${fingerprint}; nothing was decided.`, {
      remedy: "Run it again, and type the six characters as they are shown.",
    });
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    throw new HoldpointError("answerRefused", "Stopped; nothing was decided.", { remedy: "Run it again to decide." });
  }
}
