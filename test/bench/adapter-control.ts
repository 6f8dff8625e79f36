/** The harness's end of the fixture adapter: hears what it says and tells it what to do. */
import { createServer, type Server, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { join } from "node:path";
import type { Bench } from "./bench.ts";
import type { FromBenchAdapter, ToBenchAdapter } from "./children/adapter.ts";
import type { ServerOptions } from "./service.ts";
import { until } from "./service.ts";

type Said<T extends FromBenchAdapter["type"]> = Extract<FromBenchAdapter, { type: T }>;

export class AdapterControl {
  readonly #path: string;
  readonly #server: Server;
  #socket: Socket | undefined;
  #untaken: FromBenchAdapter[] = [];

  private constructor(path: string) {
    this.#path = path;
    this.#server = createServer((socket) => {
      this.#socket = socket;
      socket.on("error", () => undefined);
      createInterface({ input: socket }).on("line", (line) => this.#untaken.push(JSON.parse(line) as FromBenchAdapter));
    });
  }

  static async listen(folder: string): Promise<AdapterControl> {
    const control = new AdapterControl(join(folder, "adapter.sock"));
    await new Promise<void>((resolve) => control.#server.listen(control.#path, resolve));
    return control;
  }

  /** What makes a server start this adapter in place of the one for Telegram. */
  options(bench: Bench): Pick<ServerOptions, "env"> {
    const entry = bench.children.path("test/bench/children/adapter.ts");
    return {
      env: {
        HOLDPOINT_TEST_ADAPTER: JSON.stringify({ kind: "telegram", entry, channels: [] }),
        HOLDPOINT_BENCH_ADAPTER: this.#path,
      },
    };
  }

  tell(message: ToBenchAdapter): void {
    this.#socket?.write(`${JSON.stringify(message)}\n`);
  }

  /** The first message of this type that was not taken yet; waits for it. */
  hear<T extends FromBenchAdapter["type"]>(type: T): Promise<Said<T>> {
    return until(`"${type}" of the adapter`, () => {
      const at = this.#untaken.findIndex((message) => message.type === type);
      return at === -1 ? undefined : (this.#untaken.splice(at, 1)[0] as Said<T>);
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#server.close();
  }
}
