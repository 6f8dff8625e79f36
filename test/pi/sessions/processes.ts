/** The processes of a world that tests kill. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { World } from "./world.ts";

/** Of the Pi adapter that runs now; 0 when nobody tells. */
export async function adapterPid({ client }: Pick<World, "client">): Promise<number> {
  const status = await client.call("channel.status", {}).catch(() => null);
  return status?.channels.find(({ channel }) => channel === "pi")?.pid ?? 0;
}

/** Of the server that runs now, whoever started it in this home; 0 when there is none. */
export function serverPid({ home }: Pick<World, "home">): number {
  try {
    return (JSON.parse(readFileSync(join(home.dir, "server.json"), "utf8")) as { pid?: number }).pid ?? 0;
  } catch {
    return 0;
  }
}

/** Sends a signal to a process that may be gone; whether it was there. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  if (pid <= 0) return false;
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
