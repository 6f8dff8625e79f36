/** Which file a command is: looked up like a shell does, so that one that cannot start is told apart from one that failed. */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";

/** The absolute path of an executable file, or why there is none. */
export async function programOf(
  command: string,
  cwd: string,
  path: string | undefined,
): Promise<{ readonly file: string } | { readonly error: string }> {
  const folder = await stat(cwd).catch(() => undefined);
  if (folder?.isDirectory() !== true) return { error: `the working folder ${cwd} does not exist` };
  if (command.includes("/")) {
    const file = isAbsolute(command) ? command : resolve(cwd, command);
    const why = await obstacle(file);
    return why === undefined ? { file } : { error: `${command} ${why}` };
  }
  let seen: string | undefined;
  for (const entry of (path ?? "/usr/local/bin:/usr/bin:/bin").split(delimiter)) {
    const file = resolve(cwd, join(entry === "" ? "." : entry, command));
    const why = await obstacle(file);
    if (why === undefined) return { file };
    if (why !== MISSING) seen ??= `${file} ${why}`;
  }
  return { error: seen ?? `${command} was not found in PATH` };
}

const MISSING = "does not exist";

async function obstacle(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return MISSING;
  if (!found.isFile()) return "is not a file";
  const executable = await access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
  return executable ? undefined : "is not executable";
}
