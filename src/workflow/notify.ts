/** Notify nodes: a passive message, which starts no turn of a model. */
import { severitySchema, type Severity } from "../contracts/alert.ts";
import { HoldpointError } from "../contracts/errors.ts";
import type { NodeContext } from "./context.ts";
import { checkFunction, type NodeTypes } from "./node-types.ts";

export interface NotifyNode<Input = any, Outputs extends object = any, Output = any> extends NodeTypes<
  Input,
  Outputs,
  Output
> {
  readonly type: "notify";
  readonly kind: "progress" | "final";
  readonly message: string | ((context: NodeContext<any, any>) => string | Promise<string>);
  readonly audience: string | undefined | ((context: NodeContext<any, any>) => string | null | undefined);
  readonly ifConfigured: boolean;
  readonly severity: Severity;
  readonly groupKey: string | ((context: NodeContext<any, any>) => string | Promise<string>) | undefined;
  readonly silent: boolean;
  readonly format: "markdown" | undefined;
}

/** The output of a notify node. */
export interface Notified {
  readonly kind: "progress" | "final";
  readonly message: string;
  /** Number of the notification in its run, from 0; the same when the step is repeated. */
  readonly index: number;
}

/**
 * A message to the session that started the run, and with `audience` to its destinations in chat. Stored once, however
 * often the step is repeated. At most 16,000 characters. A function makes the audience of each message; null is none. An audience
 * that is not configured fails the node, unless `ifConfigured` says that the message is for the session alone then.
 *
 * With `groupKey`, messages of one run under the same key are one thing: the first `progress` is a message, later ones edit it, a
 * higher `severity` is a new message, and `final` closes it with one in reply. Warnings and critical ones can be acknowledged and
 * snoozed in the chat. The text is at most 3,000 characters then.
 *
 * @example
 * const report = notify({ kind: "progress", message: ({ outputs }) => `${outputs.count.n} files done.` });
 */
export function notify<Input = any, Outputs extends object = Record<string, any>>(options: {
  readonly kind: "progress" | "final";
  readonly message: string | ((context: NodeContext<Input, Outputs>) => string | Promise<string>);
  /** Name of an audience in the configuration. */
  readonly audience?: string | ((context: NodeContext<Input, Outputs>) => string | null | undefined);
  /** Without such an audience the message is stored, and sent to nobody in chat. */
  readonly ifConfigured?: boolean;
  /** Left out: `info`. */
  readonly severity?: Severity;
  /** What makes messages of the run the same thing; with `audience` only. */
  readonly groupKey?: string | ((context: NodeContext<Input, Outputs>) => string | Promise<string>);
  /** True: chats make no sound. */
  readonly silent?: boolean;
  /**
   * `markdown`: chats show its bold, lists, code and tables as such. Links are shown with their address, images and HTML as text.
   * Left out: the message is text, shown exactly. Not with `groupKey`.
   */
  readonly format?: "markdown";
}): NotifyNode<Input, Outputs, Notified> {
  const {
    audience,
    format,
    groupKey,
    ifConfigured = false,
    kind,
    message,
    severity = "info",
    silent = false,
  } = options;
  if (kind !== "progress" && kind !== "final") {
    throw new HoldpointError(
      "workflowInvalid",
      `The kind of a notification is progress or final; it is ${String(kind)}.`,
    );
  }
  if (typeof message !== "string") checkFunction(message, "notify", "message");
  if (audience !== undefined && typeof audience !== "function" && (typeof audience !== "string" || audience === "")) {
    throw new HoldpointError(
      "workflowInvalid",
      "The audience of a notification is the name of one in the configuration, or a function that gives it.",
    );
  }
  if (format !== undefined && format !== "markdown") throw invalid("format", '"markdown" or left out', format);
  if (!severitySchema.safeParse(severity).success) throw invalid("severity", "info, warning or critical", severity);
  if (typeof silent !== "boolean") throw invalid("silent", "true or false", silent);
  if (groupKey !== undefined) {
    if (audience === undefined)
      throw new HoldpointError("workflowInvalid", "A notification has a groupKey only with an audience.");
    if (format !== undefined)
      throw new HoldpointError("workflowInvalid", "A notification with a groupKey is plain text; it has no format.");
    if (typeof groupKey !== "string") checkFunction(groupKey, "notify", "groupKey");
  }
  return Object.freeze({ type: "notify", kind, message, audience, ifConfigured, format, severity, groupKey, silent });
}

function invalid(field: string, wanted: string, seen: unknown): HoldpointError {
  return new HoldpointError("workflowInvalid", `The ${field} of a notification is ${wanted}; it is ${String(seen)}.`);
}
