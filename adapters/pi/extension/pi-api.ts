/**
 * The parts of Pi's extension API that the extension uses, as Pi 1.4 to 1.6 document them. Types of our own: an install of
 * Holdpoint must not bring Pi's packages with it.
 */
import type { PiTool, PiToolResult } from "../bridge/pi-api.ts";

export type { PiToolResult };

export type PiMode = "tui" | "rpc" | "json" | "print";
/** Where a line of input came from. Pi tells this with the event `input`, and never to the handler of a registered command. */
export type InputSource = "interactive" | "rpc" | "extension";

/** What the extension reads of an entry of a session. */
export interface PiEntry {
  readonly id: string;
  readonly type: string;
  readonly customType?: string;
  readonly data?: unknown;
  readonly details?: unknown;
  readonly message?: PiMessage;
}

export interface PiMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly stopReason?: string;
  readonly customType?: string;
  readonly details?: unknown;
}

export interface PiSession {
  getSessionId(): string;
  getSessionFile(): string | undefined;
  /** The entries from the root to the present leaf. */
  getBranch(): readonly PiEntry[];
  /** All entries, those of abandoned branches too. */
  getEntries(): readonly PiEntry[];
  getLeafId(): string | null;
}

export interface DialogOptions {
  readonly signal?: AbortSignal;
}

export interface PiTheme {
  fg(colour: string, text: string): string;
  bold(text: string): string;
}

export interface PiComponent {
  render(width: number): readonly string[];
  invalidate(): void;
}

/** The part of Pi's terminal that a component needs. */
export interface PiTui {
  requestRender(): void;
}

export interface CompletionItem {
  readonly value: string;
  readonly label: string;
  readonly description?: string;
}

export interface Completions {
  readonly items: readonly CompletionItem[];
  readonly prefix: string;
}

export interface CompletionProvider {
  readonly triggerCharacters?: string[];
  getSuggestions(
    lines: string[],
    line: number,
    column: number,
    options: CompletionOptions,
  ): Promise<Completions | null>;
  applyCompletion(
    lines: string[],
    line: number,
    column: number,
    item: CompletionItem,
    prefix: string,
  ): { lines: string[]; cursorLine: number; cursorCol: number };
  shouldTriggerFileCompletion?(lines: string[], line: number, column: number): boolean;
}

export interface CompletionOptions {
  readonly signal: AbortSignal;
  readonly force?: boolean;
}

export interface PiUi {
  /** Undefined for a dialog that was left, aborted, or is not there in this mode. */
  select(title: string, options: string[], dialog?: DialogOptions): Promise<string | undefined>;
  input(title: string, placeholder?: string, dialog?: DialogOptions): Promise<string | undefined>;
  notify(message: string, type?: "info" | "warning" | "error"): void;
  setStatus(key: string, text: string | undefined): void;
  setWidget(key: string, content: string[] | undefined): void;
  /** In the TUI only. */
  setWidget(key: string, factory: (tui: PiTui, theme: PiTheme) => PiComponent): void;
  /** In the TUI only. */
  addAutocompleteProvider(factory: (current: CompletionProvider) => CompletionProvider): void;
}

/** Given with every event. Any use of one of a session that is over throws. */
export interface PiContext {
  readonly ui: PiUi;
  readonly mode: PiMode;
  readonly hasUI: boolean;
  readonly cwd: string;
  readonly sessionManager: PiSession;
  /** The signal of the turn; undefined while no model works. */
  readonly signal: AbortSignal | undefined;
  isIdle(): boolean;
  /** Stops the turn that is under way. */
  abort(): void;
  hasPendingMessages(): boolean;
}

export interface MessageRenderOptions {
  readonly expanded: boolean;
}

export type MessageRenderer = (
  message: { readonly content: unknown; readonly details?: unknown },
  options: MessageRenderOptions,
  theme: PiTheme,
) => PiComponent | undefined;

export type EntryRenderer = (
  entry: { readonly data?: unknown },
  options: MessageRenderOptions,
  theme: PiTheme,
) => PiComponent | undefined;

export type InputResult = { readonly action: "continue" } | { readonly action: "handled" };

/** Payloads of the events that the extension hears. */
export interface PiEvents {
  session_start: { readonly reason: string };
  session_tree: { readonly newLeafId: string | null };
  session_shutdown: { readonly reason: string };
  input: { readonly text: string; readonly source: InputSource };
  before_agent_start:
    | { readonly messageType: "user"; readonly prompt: string }
    | { readonly messageType: "custom"; readonly message: PiMessage };
  agent_start: object;
  agent_end: { readonly messages: readonly PiMessage[] };
  agent_settled: { readonly aborted?: boolean };
  turn_end: object;
  message_end: { readonly message: PiMessage };
  tool_call: { readonly toolName: string; readonly input: unknown };
}

/** What a handler may answer; nothing for the events that are not named. */
export interface PiResults {
  input: InputResult;
  tool_call: { readonly block: true; readonly reason: string };
}

type ResultOf<K extends keyof PiEvents> = K extends keyof PiResults ? PiResults[K] : never;

export type PiHandler<K extends keyof PiEvents> = (
  event: PiEvents[K],
  context: PiContext,
) => ResultOf<K> | undefined | void | Promise<ResultOf<K> | undefined | void>;

export interface SessionTool extends Omit<PiTool, "execute"> {
  readonly promptSnippet: string;
  readonly promptGuidelines: string[];
  execute(
    toolCallId: string,
    params: unknown,
    signal: AbortSignal | undefined,
    onUpdate: unknown,
    context: PiContext,
  ): Promise<PiToolResult>;
}

export interface CustomMessage {
  readonly customType: string;
  readonly content: string;
  readonly display: boolean;
  readonly details: unknown;
}

export interface PiApi {
  on<K extends keyof PiEvents>(event: K, handler: PiHandler<K>): unknown;
  registerTool(tool: SessionTool): void;
  registerCommand(
    name: string,
    command: {
      readonly description: string;
      getArgumentCompletions?(
        prefix: string,
      ): Promise<readonly CompletionItem[] | null> | readonly CompletionItem[] | null;
      handler(args: string, context: PiContext): Promise<void>;
    },
  ): void;
  registerShortcut(
    key: string,
    shortcut: { readonly description: string; handler(context: PiContext): void | Promise<void> },
  ): void;
  registerMessageRenderer(customType: string, renderer: MessageRenderer): void;
  registerEntryRenderer(customType: string, renderer: EntryRenderer): void;
  /** Gives no id: the message is found again by what stands in its details. Throws when the session is over. */
  sendMessage(
    message: CustomMessage,
    options?: { readonly triggerTurn?: boolean; readonly deliverAs?: "steer" | "followUp" | "nextTurn" },
  ): void;
  appendEntry(customType: string, data: unknown): void;
}
