/** Edges as an author writes them: a plain one, or a switch over a value that the node produced. */

export interface PlainEdge<From extends string = string, To extends string = From> {
  readonly from: From;
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
export type WorkflowEdge<Id extends string = string> = PlainEdge<Id> | SwitchEdge<Id>;
