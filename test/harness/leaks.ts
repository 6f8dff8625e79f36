/** Searching everything a home and its processes hold for a secret, in the forms in which it could leak. */
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import type { HoldpointClient } from "../../src/client/index.ts";
import type { TestHome } from "./home.ts";

export interface Leak {
  readonly where: string;
  readonly form: string;
}

/** All logs of a home as one text. */
export function logsOf(home: TestHome): string {
  const folder = join(home.dir, "logs");
  return filesIn(folder)
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
}

/**
 * The forms of a secret: raw, URL-encoded, base64 and base64url. Base64 depends on where the secret begins within its
 * surroundings, so all three alignments are covered by the characters that do not depend on the neighbours.
 */
export function tokenForms(token: string): { form: string; bytes: Buffer }[] {
  const forms = [
    { form: "raw", bytes: Buffer.from(token) },
    { form: "url-encoded", bytes: Buffer.from(encodeURIComponent(token)) },
  ];
  for (const shift of [0, 1, 2]) {
    const whole = Buffer.concat([Buffer.alloc(shift), Buffer.from(token)])
      .toString("base64")
      .replace(/=+$/, "");
    const core = whole.slice(shift === 0 ? 0 : shift + 1, -1);
    forms.push({ form: `base64 at ${shift}`, bytes: Buffer.from(core) });
    forms.push({ form: `base64url at ${shift}`, bytes: Buffer.from(core.replaceAll("+", "-").replaceAll("/", "_")) });
  }
  return forms;
}

/**
 * Searches every file of the home but the token files, what clients are shown of every run and effect (when a client is
 * given), and the environment and command line of every process that can be read.
 *
 * @throws Error when there was nothing to search, so that a test cannot pass because a path was wrong.
 */
export async function leakSearch(home: TestHome, token: string, client?: HoldpointClient): Promise<Leak[]> {
  const forms = tokenForms(token);
  const leaks: Leak[] = [];
  let searched = 0;
  const search = (where: string, content: Buffer): void => {
    searched += 1;
    for (const { form, bytes } of forms) if (content.includes(bytes)) leaks.push({ where, form });
  };
  const own = new Set(Object.values(home.tokenFiles));
  for (const path of filesIn(home.dir)) if (!own.has(path)) search(path, readFileSync(path));
  if (searched === 0) throw new Error(`nothing to search in ${home.dir}`);
  if (client !== undefined) await searchViews(client, search);
  for (const pid of readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name))) {
    for (const file of ["environ", "cmdline"]) {
      const content = tryRead(join("/proc", pid, file));
      if (content !== undefined) search(`/proc/${pid}/${file}`, content);
    }
  }
  return leaks;
}

async function searchViews(client: HoldpointClient, search: (where: string, content: Buffer) => void): Promise<void> {
  const { runs } = await client.call("run.list", { limit: 256, before: null });
  for (const { runId } of runs) {
    search(`show ${runId}`, Buffer.from(JSON.stringify(await client.call("run.get", { run: runId }))));
  }
  const { effects } = await client.call("effect.list", { all: true });
  for (const { effectId } of effects) {
    search(`effect ${effectId}`, Buffer.from(JSON.stringify(await client.call("effect.show", { effect: effectId }))));
  }
  search("server status", Buffer.from(JSON.stringify(await client.call("server.status", {}))));
}

function filesIn(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const path = join(folder, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    if (stats.isDirectory()) return filesIn(path);
    return stats.isFile() ? [path] : [];
  });
}

/** A file of /proc may vanish or belong to somebody else. */
function tryRead(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
