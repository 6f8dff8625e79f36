/** A model that does what it is told, but lets one request wait until it is let go. */
import type { ModelRequest, Reply, Script } from "../mock-model.ts";

export class HeldModel {
  /** Resolves when the request waits. */
  readonly held: Promise<void>;
  readonly #script: Script;
  readonly #free: Promise<void>;
  #waits!: () => void;
  #letGo!: () => void;
  #test: ((request: ModelRequest) => boolean) | null = null;

  constructor(script: Script) {
    this.#script = script;
    this.held = new Promise((resolve) => (this.#waits = resolve));
    this.#free = new Promise((resolve) => (this.#letGo = resolve));
  }

  /** The first request from now on that fits is not answered. */
  hold(test: (request: ModelRequest) => boolean): void {
    this.#test = test;
  }

  letGo(): void {
    this.#letGo();
  }

  readonly script: Script = async (request): Promise<Reply> => {
    if (this.#test?.(request) === true) {
      this.#test = null;
      this.#waits();
      await this.#free;
    }
    return this.#script(request);
  };
}
