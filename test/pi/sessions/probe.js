// An extension beside ours, as anybody may have one: it injects lines, reloads, opens another session, and writes down what Pi tells.
import { appendFileSync } from "node:fs";

export default function probe(pi) {
  const log = (record) => appendFileSync(process.env.PROBE_LOG, `${JSON.stringify(record)}\n`);
  pi.on("input", ({ source, text }) => log({ input: text, source }));
  pi.on("session_start", ({ reason }) => log({ session: reason }));
  pi.registerCommand("probe-inject", {
    description: "sends a line as if it had been typed",
    handler: async (line) => pi.sendUserMessage(line, { expandPromptTemplates: true }),
  });
  pi.registerCommand("probe-reload", { description: "reloads", handler: async (_line, ctx) => ctx.reload() });
  pi.registerCommand("probe-root", {
    description: "goes to the first entry of the session",
    handler: async (_line, ctx) => {
      const [first] = ctx.sessionManager.getEntries().filter(({ type }) => type === "message");
      await ctx.navigateTree(first.id);
    },
  });
}
