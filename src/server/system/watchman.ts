/**
 * Ends what a killed server leaves behind. A child ends when its pipe closes, unless its event loop is blocked or it was
 * stopped; then nobody of ours is left to end it. The watchman is a small shell beside the server: it is told of every
 * process group, and when the pipe to it closes, it gives the children the time in which they end by themselves and
 * kills those that are still there; then, after the same time, what they had started for a node. (The agent of a killed
 * runner must not be killed with it: it notices, and ends what it started in groups of its own.) A pid that belongs to
 * another process by then is left alone.
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
drop() { for one in $1; do [ "\${one%%:*}" = "$2" ] || printf ' %s' "$one"; done; }
end() {
  sleep ${GRACE_SECONDS}
  for one in $1; do
    pid=\${one%%:*}; now=$(since "$pid")
    # A group whose leader is gone keeps the pid from being used again.
    if [ -z "$now" ] || [ "$now" = "\${one#*:}" ]; then kill -s KILL -- "-$pid"; fi
  done
}
children= groups=
while read -r what pid; do
  case $what in
    child) children="$children $pid:$(since "$pid")" ;;
    group) groups="$groups $pid:$(since "$pid")" ;;
    gone) children=$(drop "$children" "$pid"); groups=$(drop "$groups" "$pid") ;;
  esac
done
[ -z "$children" ] || end "$children"
[ -z "$groups" ] || end "$groups"
`;

export class Watchman {
  readonly #log: Log;
  readonly #groups = new Map<number, "child" | "group">();
  #shell: ChildProcess | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Of the shell, while there is one. */
  get pid(): number | undefined {
    return this.#shell?.pid;
  }

  /** This group must not outlive the server: a child of its own, or a group that a runner has registered. */
  watch(pid: number, what: "child" | "group"): void {
    this.#groups.set(pid, what);
    if (this.#shell === undefined) this.#start();
    else this.#tell(what, pid);
  }

  /** This group is gone. */
  unwatch(pid: number): void {
    if (this.#groups.delete(pid)) this.#tell("gone", pid);
  }

  /** What the end of the server does as well: groups that are still watched are ended. */
  close(): void {
    const shell = this.#shell;
    this.#shell = undefined;
    shell?.stdin?.end();
  }

  #start(): void {
    // A group of its own: neither Ctrl-C nor the end of a terminal reaches it.
    const shell = spawn("/bin/sh", ["-c", SCRIPT, "holdpoint-watchman"], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
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
    for (const [pid, what] of this.#groups) this.#tell(what, pid);
  }

  #tell(what: "child" | "group" | "gone", pid: number): void {
    this.#shell?.stdin?.write(`${what} ${pid}\n`);
  }
}
