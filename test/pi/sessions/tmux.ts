/** A real Pi in its terminal mode, in a tmux of its own: keys go in as from a keyboard, the screen is read as text. */
import { spawnSync } from "node:child_process";
import { childEnv, HANG_MS, type Scope, type TestHome } from "../../harness/index.ts";
import type { Stage } from "../stage.ts";
import { EXTENSION } from "./pi-rpc.ts";

export interface ScreenOptions {
  readonly stage: Stage;
  readonly home: TestHome;
  readonly columns?: number;
  readonly rows?: number;
  readonly args?: readonly string[];
}

/** Whether there is a tmux here. */
export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

export class Screen {
  readonly #socket: string;
  #seen = "";

  constructor(scope: Scope, { args = [], columns = 100, home, rows = 60, stage }: ScreenOptions) {
    this.#socket = `hp-${process.pid}-${stage.runId}`;
    const env = childEnv({ PI_CODING_AGENT_DIR: stage.agentDir, HOLDPOINT_HOME: home.dir, TERM: "xterm-256color" });
    const command = [...stage.command, "--tui-mode", "regular", "--extension", EXTENSION, ...args]
      .map((word) => `'${word}'`)
      .join(" ");
    const size = ["-x", String(columns), "-y", String(rows)];
    const started = spawnSync(
      "tmux",
      ["-L", this.#socket, "-f", "/dev/null", "new-session", "-d", "-s", "pi", ...size, "-c", stage.cwd, command],
      { env, encoding: "utf8" },
    );
    if (started.status !== 0) throw new Error(`tmux: ${started.stderr}`);
    scope.add(() => this.#tmux("kill-server"));
  }

  /** Types a line and presses Enter. */
  type(line: string): void {
    this.#tmux("send-keys", "-t", "pi", "-l", line);
    this.press("Enter");
  }

  press(...keys: readonly string[]): void {
    this.#tmux("send-keys", "-t", "pi", ...keys);
  }

  /** What is on the screen and above it. */
  read(): string {
    this.#seen = this.#tmux("capture-pane", "-p", "-S", "-300", "-t", "pi");
    return this.#seen;
  }

  /** Waits until the screen shows it. */
  async shows(pattern: RegExp): Promise<RegExpExecArray> {
    for (const began = Date.now(); Date.now() - began < HANG_MS;) {
      const found = pattern.exec(this.read());
      if (found !== null) return found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`The screen never showed ${pattern}:\n${this.#seen}`);
  }

  #tmux(...args: readonly string[]): string {
    return spawnSync("tmux", ["-L", this.#socket, ...args], { encoding: "utf8" }).stdout;
  }
}
