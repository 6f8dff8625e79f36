/**
 * Ends what a killed server leaves behind. A child ends when its pipe closes, unless its event loop is blocked or it was
 * stopped; then nobody of ours is left to end it. The watchman is a small shell beside the server: it is told of every
 * process group, and when the pipe to it closes, it gives the groups the time in which a child ends by itself and kills
 * those that are still there. A pid that belongs to another process by then is left alone.
 *
 * It needs no Node and no turn of an event loop. If it is killed as well, the next server ends the groups.
 */
import { spawn, type ChildProcess } from "node:child_process";
import type { Log } from "../ports.ts";

/** Longer than `WIRE.childExitMs`, in seconds, for sleep(1). */
const GRACE_SECONDS = 1;

/** Field 22 of /proc/<pid>/stat tells a process from a later one with its pid; the name before it may hold blanks. */
const SCRIPT = `
since() {
  if [ -d /proc/self ]; then read -r line 2>/dev/null < "/proc/$1/stat" && set -- \${line##*) } && echo "\${20}"
  else ps -o lstart= -p "$1" | tr -d ' '; fi
}
list=
while read -r what pid; do
  case $what in
    +) list="$list $pid:$(since "$pid")" ;;
    -) rest=; for one in $list; do [ "\${one%%:*}" = "$pid" ] || rest="$rest $one"; done; list=$rest ;;
  esac
done
[ -n "$list" ] || exit 0
sleep ${GRACE_SECONDS}
for one in $list; do
  pid=\${one%%:*}; now=$(since "$pid")
  # A group whose leader is gone keeps the pid from being used again.
  if [ -z "$now" ] || [ "$now" = "\${one#*:}" ]; then kill -s KILL -- "-$pid"; fi
done
`;

export class Watchman {
  readonly #log: Log;
  readonly #groups = new Set<number>();
  #shell: ChildProcess | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Of the shell, while there is one. */
  get pid(): number | undefined {
    return this.#shell?.pid;
  }

  /** This group must not outlive the server. */
  watch(pid: number): void {
    this.#groups.add(pid);
    if (this.#shell === undefined) this.#start();
    else this.#tell("+", pid);
  }

  /** This group is gone. */
  unwatch(pid: number): void {
    if (this.#groups.delete(pid)) this.#tell("-", pid);
  }

  /** What the end of the server does as well: groups that are still watched are ended. */
  close(): void {
    this.#shell?.stdin?.end();
  }

  #start(): void {
    // A group of its own: neither Ctrl-C nor the end of a terminal reaches it.
    const shell = spawn("/bin/sh", ["-c", SCRIPT], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
    this.#shell = shell;
    shell.stdin.on("error", () => undefined);
    const lost = (): void => {
      if (this.#shell !== shell) return;
      this.#shell = undefined;
      // The next group that is to be watched starts another one.
      if (this.#groups.size > 0) this.#log.warn({ pid: shell.pid }, "the watchman of the process groups has ended");
    };
    shell.once("error", lost);
    shell.once("exit", lost);
    shell.unref();
    for (const pid of this.#groups) this.#tell("+", pid);
  }

  #tell(what: "+" | "-", pid: number): void {
    this.#shell?.stdin?.write(`${what} ${pid}\n`);
  }
}
