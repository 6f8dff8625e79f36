/** Edges as an author writes them: a plain one, or a switch over a value that the node produced. */

export interface PlainEdge<From extends string = string, To extends string = From> {
  /** A node, or the exit of a mount: `approval.approved`. */
  readonly from: From;
  /** A node or a mount. */
  readonly to: To;
}
export interface SwitchEdge<From extends string = string, To extends string = From> {
  readonly from: From;
  readonly switch: {
    /** `$.field` or `$output.field` of the output, `$result.field` of the result. */
    readonly on: string;
    readonly cases: Readonly<Record<string, To>>;
  };
}
export type WorkflowEdge<From extends string = string, To extends string = From> =
  | PlainEdge<From, To>
  | SwitchEdge<From, To>;
