/**
 * Which Pi is there, and does it fit? Asked once per start and by `doctor`: Pi is started with `--version`, and the Node
 * that runs it says its own version on the way, also when Pi cannot start on it.
 */
import { spawn } from "node:child_process";
import type { PiConfig } from "../config.ts";
import { AGENT } from "../limits.ts";

export type PiCheck =
  | {
      readonly ok: true;
      readonly version: string;
      /** Version of the Node that runs Pi; null if it is not run by one. */
      readonly node: string | null;
    }
  | { readonly ok: false; readonly found: string; readonly needed: string };

/** Since 1.2.0 turns are right that something other than a person began; 1.6.0 is what the tests run. */
const OLDEST_PI = [1, 2, 0] as const;
/** Pi's `engines` since 0.75.0. */
const OLDEST_NODE = [22, 19, 0] as const;
export const PI_NEEDED = `Pi ${OLDEST_PI.join(".")} or newer on Node ${OLDEST_NODE.join(".")} or newer`;

const NODE_SAYS = "holdpoint-node ";
/** Loaded by Node before anything else; no blanks, which would end the option. */
const SAY_NODE = `--import=data:text/javascript,process.stderr.write(%22${encodeURIComponent(NODE_SAYS)}%22+process.version+%22%5Cn%22)`;

/** The program and first arguments of a configured command. */
export function piCommand({ command }: PiConfig): { readonly program: string; readonly first: readonly string[] } {
  const [program = "pi", ...first] = typeof command === "string" ? [command] : command;
  return { program, first };
}

/** The environment for Pi: ours, with Pi's folder if one is configured. */
export function piEnvironment({ agentDir }: PiConfig): NodeJS.ProcessEnv {
  return agentDir === undefined ? { ...process.env } : { ...process.env, PI_CODING_AGENT_DIR: agentDir };
}

/** Starts the configured Pi with `--version`. Never rejects; takes at most `AGENT.checkMs`. */
export async function checkPi(config: PiConfig): Promise<PiCheck> {
  const { program, first } = piCommand(config);
  const called = [program, ...first].join(" ");
  const { code, stderr, stdout } = await ask(program, [...first, "--version"], piEnvironment(config));
  const refuse = (found: string): PiCheck => ({ ok: false, found, needed: PI_NEEDED });

  const node = new RegExp(`^${NODE_SAYS}v(\\S+)$`, "m").exec(stderr)?.[1] ?? null;
  const on = node === null ? "" : ` on Node ${node}`;
  if (code === "missing") return refuse(`no program "${program}"`);
  if (code === "slow") return refuse(`${called}${on}, which did not tell its version within ${AGENT.checkMs} ms`);
  if (node !== null && older(node, OLDEST_NODE)) return refuse(`${called}${on}`);
  const version = /(?:^|\s)v?(\d+\.\d+\.\d+\S*)\s*$/m.exec(stdout)?.[1];
  if (code !== 0 || version === undefined) return refuse(`${called}${on}, which ended with ${complaint(code, stderr)}`);
  if (older(version, OLDEST_PI)) return refuse(`Pi ${version} (${called})${on}`);
  return { ok: true, version, node };
}

interface Answer {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

function ask(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Answer> {
  return new Promise((resolve) => {
    const options = [env["NODE_OPTIONS"], SAY_NODE].filter(Boolean).join(" ");
    const child = spawn(program, args, {
      env: { ...env, NODE_OPTIONS: options },
      stdio: ["ignore", "pipe", "pipe"],
    });
    // Not the option of `spawn`: its timer goes on when there is no such program, and keeps the process alive.
    const timer = setTimeout(() => child.kill("SIGKILL"), AGENT.checkMs);
    const answer = (code: Answer["code"]): void => {
      clearTimeout(timer);
      resolve({ code, stdout, stderr });
    };
    let stdout = "";
    let stderr = "";
    child.stdout.on(
      "data",
      (chunk: Buffer) => (stdout = (stdout + chunk.toString("utf8")).slice(-AGENT.diagnosticChars)),
    );
    // The beginning is kept, where Node says its version, and what follows up to a bound.
    child.stderr.on(
      "data",
      (chunk: Buffer) => (stderr = (stderr + chunk.toString("utf8")).slice(0, AGENT.promptChars)),
    );
    child.once("error", () => answer("missing"));
    child.once("close", (code, signal) => answer(code ?? (signal === "SIGKILL" ? "slow" : `${signal}`)));
  });
}

/** The line of a diagnostic that says most: the error's own, else the last. */
function complaint(code: number | string, stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !line.startsWith(NODE_SAYS));
  const line = lines.find((text) => /Error\b/.test(text)) ?? lines.at(-1);
  return line === undefined ? `code ${code}` : `code ${code}: ${line.trim().slice(0, 300)}`;
}

function older(version: string, than: readonly number[]): boolean {
  const numbers = version.split(/[.+-]/).map(Number);
  for (const [index, wanted] of than.entries()) {
    const number = numbers[index] ?? 0;
    if (number !== wanted) return number < wanted;
  }
  return false;
}
