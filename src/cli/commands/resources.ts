/**
 * `holdpoint resource-managers`, `resource-manager`, `apply`, `reconcile` and `delete`: what is kept at its requested state in a project.
 */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";

import type { HoldpointClient } from "../../client/index.ts";
import { PAGE, RESOURCE } from "../../contracts/limits.ts";
import type { ResourceSummary } from "../../contracts/protocol/resource-operations.ts";
import { usage, type Context } from "../context.ts";
import { readJson } from "../input.ts";
import { clean, table } from "../layout.ts";
import { nextPass, readyWord, tellResource } from "../resource-story.ts";
import { wholeNumber } from "../values.ts";

type Options = Record<string, unknown>;

/** The project folder without links, as the server knows it. */
async function projectOf(options: Options): Promise<string> {
  const given = options["project"];
  const path = typeof given === "string" ? resolve(given) : process.cwd();
  try {
    return await realpath(path);
  } catch {
    throw usage(`The project folder ${path} does not exist.`);
  }
}

async function refOf(args: string[], options: Options): Promise<{ projectPath: string; manager: string; key: string }> {
  const [manager = "", key = ""] = args;
  bounded("The manager's name", manager, RESOURCE.nameChars);
  bounded("The key", key, RESOURCE.keyChars);
  return { projectPath: await projectOf(options), manager, key };
}

function bounded(what: string, text: string, limit: number): void {
  if (text.length >= 1 && text.length <= limit) return;
  throw usage(`${what} has ${text.length} characters; it must have 1 to ${limit}.`);
}

export async function resourceManagers(context: Context, args: string[], options: Options): Promise<void> {
  const projectPath = await projectOf(options);
  const limit = wholeNumber(String(options["limit"]), "--limit", 1, 100_000);
  const manager = args[0] ?? null;
  const found = await context.withClient((client) => pages(client, { projectPath, manager }, limit));
  context.result({ projectPath, ...found });
  if (found.resources.length === 0) {
    const what = manager === null ? "No managed resources" : `No resources of "${clean(manager)}"`;
    context.line(`${what} in ${clean(projectPath)}. Make one: holdpoint apply <manager> <key> <spec>`);
    return;
  }
  const rows = found.resources.map((resource) => [
    resource.manager,
    clean(resource.key),
    readyWord(resource),
    nextPass(resource, Date.now()),
  ]);
  const columns = [{ title: "manager" }, { title: "key", flexible: true }, { title: "ready" }, { title: "next pass" }];
  context.lines(table(columns, rows, context.width));
  if (found.more) context.line(`More are left out; --limit ${limit * 2} shows more.`);
}

async function pages(
  client: HoldpointClient,
  of: { readonly projectPath: string; readonly manager: string | null },
  limit: number,
): Promise<{ resources: ResourceSummary[]; more: boolean }> {
  const resources: ResourceSummary[] = [];
  for (let more = true; more;) {
    const last = resources.at(-1);
    const page = await client.call("resourceManager.list", {
      ...of,
      after: last === undefined ? null : { manager: last.manager, key: last.key },
      limit: Math.min(PAGE.rows, limit - resources.length),
    });
    resources.push(...page.resources);
    more = page.more;
    if (resources.length >= limit) return { resources, more };
  }
  return { resources, more: false };
}

export async function resourceManager(context: Context, args: string[], options: Options): Promise<void> {
  const ref = await refOf(args, options);
  const detail = await context.withClient((client) => client.call("resourceManager.get", ref));
  context.result(detail);
  if (!context.json) tellResource(context, detail);
}

export async function apply(context: Context, args: string[], options: Options): Promise<void> {
  const ref = await refOf(args, options);
  const spec = await readJson(args[2] ?? "", "the spec", context.io);
  const { expect, path } = options;
  const expectedVersion =
    typeof expect === "string" ? wholeNumber(expect, "--expect", 0, Number.MAX_SAFE_INTEGER) : null;
  const payload = { ...ref, spec, path: typeof path === "string" ? resolve(path) : null, expectedVersion };
  const done = await context.withClient((client) => client.call("resourceManager.apply", payload));
  context.result(done);
  const what = { created: "is new", changed: "has a new spec", unchanged: "has this spec already" }[done.outcome];
  context.line(
    `${ref.manager} ${clean(ref.key)} ${what} (generation ${done.generation}); its next pass begins at once.`,
  );
  context.line(`Look at it: holdpoint resource-manager ${ref.manager} ${quoted(ref.key)}`);
}

export async function reconcile(context: Context, args: string[], options: Options): Promise<void> {
  const ref = await refOf(args, options);
  const done = await context.withClient((client) => client.call("resourceManager.reconcile", ref));
  context.result(done);
  context.line(`${ref.manager} ${clean(ref.key)} gets a pass now.`);
}

export async function deleteResource(context: Context, args: string[], options: Options): Promise<void> {
  const ref = await refOf(args, options);
  const done = await context.withClient((client) => client.call("resourceManager.delete", ref));
  context.result(done);
  const waits =
    done.finalizers.length > 0 ? `cleaned up first: ${done.finalizers.join(", ")}` : "gone after the pass that goes on";
  context.line(`${ref.manager} ${clean(ref.key)} is ${done.deleted ? "deleted" : waits}.`);
}

export async function rebuildQueue(context: Context): Promise<void> {
  const done = await context.withClient((client) => client.call("resourceManager.rebuildQueue", {}));
  context.result(done);
  context.line(
    done.queued === 0
      ? "Every resource stood in the queue."
      : `${done.queued} ${done.queued === 1 ? "resource" : "resources"} put back into the queue.`,
  );
}

function quoted(key: string): string {
  return /^[A-Za-z0-9._/@:+-]+$/.test(key) ? key : `'${key.replaceAll("'", String.raw`'\''`)}'`;
}
