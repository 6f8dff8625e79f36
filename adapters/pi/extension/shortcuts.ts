/**
 * The keys of the extension: scroll the widget, answer what waits. Pi wants them when it loads us, before anything heavy is
 * there, so the configuration is looked at here without its schema; what is not understood there is told by `config check`.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export type ShortcutName = "scrollUp" | "scrollDown" | "answer";

const USUAL: Readonly<Record<ShortcutName, string | null>> = {
  scrollUp: "shift+up",
  scrollDown: "shift+down",
  answer: null,
};

/** The key for each action that has one. */
export function shortcuts(env: NodeJS.ProcessEnv = process.env): Map<ShortcutName, string> {
  const given = configured(env);
  const keys = new Map<ShortcutName, string>();
  for (const [name, usual] of Object.entries(USUAL) as [ShortcutName, string | null][]) {
    const key = Object.hasOwn(given, name) ? given[name] : usual;
    if (typeof key === "string" && key !== "") keys.set(name, key);
  }
  return keys;
}

function configured(env: NodeJS.ProcessEnv): Partial<Record<string, unknown>> {
  try {
    const named = env["HOLDPOINT_HOME"];
    const home = named === undefined || named === "" ? join(homedir(), ".holdpoint") : resolve(named);
    const config = JSON.parse(readFileSync(join(home, "config.json"), "utf8")) as { pi?: { shortcuts?: unknown } };
    const given = config.pi?.shortcuts;
    return typeof given === "object" && given !== null ? { ...given } : {};
  } catch {
    // No configuration, or one that the server complains about.
    return {};
  }
}
