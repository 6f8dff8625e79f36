/** The few parts of Pi's extension API that the bridge uses, as Pi 1.2 to 1.6 document them; no package of Pi is needed. */

export interface PiToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly details: unknown;
  /** Honoured since Pi 0.99. */
  readonly isError: boolean;
  /** The model is not asked again after this batch of calls. */
  readonly terminate: boolean;
}

export interface PiTool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: object;
  readonly executionMode: "sequential";
  execute(toolCallId: string, params: unknown, signal: AbortSignal | undefined): Promise<PiToolResult>;
}

export interface PiToolCallEvent {
  readonly toolName: string;
}

export interface PiApi {
  registerTool(tool: PiTool): void;
  on(event: "session_start" | "session_shutdown", handler: () => void): unknown;
  on(
    event: "tool_call",
    handler: (event: PiToolCallEvent) => { readonly block: true; readonly reason: string } | undefined,
  ): unknown;
}
