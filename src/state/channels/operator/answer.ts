/** What an operator's command comes to: the answer, its buttons, and what the server has to do after the commit. */
import type { ReplyCode } from "../../../contracts/decision/codes.ts";
import type { OperatorButton } from "../../../contracts/decision/operator-codes.ts";

/** A button with what it is about: a decision's id, an effect's id, a run's id, or where the next page begins. */
export interface Pressable extends OperatorButton {
  readonly target: string;
}

export interface OperatorAnswer {
  readonly reply: ReplyCode;
  readonly buttons?: readonly (readonly Pressable[])[];
  /** The only account that may press its buttons. */
  readonly onlyFor?: string;
  /** A runner that lost its claim by this and must be stopped. */
  readonly stop?: string | null;
}
