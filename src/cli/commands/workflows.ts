/**
 * `holdpoint workflows`: the workflow files that can be run by name from here.
 */
import type { Context } from "../context.ts";
import { clean, table } from "../layout.ts";
import { listWorkflows } from "../../contracts/discovery.ts";

export async function workflows(context: Context): Promise<void> {
  const found = await listWorkflows();
  context.result({ workflows: found });
  const rows = found.map(({ name, origin, path }) => [clean(name), origin, clean(path)]);
  context.lines(table([{ title: "name" }, { title: "where" }, { title: "file", flexible: true }], rows, context.width));
  if (found.some(({ origin }) => origin !== "builtin")) return;
  context.line("No workflows of your own found in .pi/workflows or ~/.pi/agent/workflows.");
  context.line("Any .workflow.ts file can be run by its path: holdpoint run ./deploy.workflow.ts");
}
