/**
 * Included workflows at run time: the transitions that happen between steps without being steps, and what a run has to
 * remember of each mount.
 */
import { z } from "zod";
import { contentRefSchema, jsonSchema } from "./protocol/shared.ts";

/** A mount was entered or left between two steps; travels with the step before it. */
export const includeTransitionSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("include_entered"),
    /** Full path of the mount. */
    mount: z.string(),
    workflow: z.string(),
    /** From 1; re-entering is a new invocation. */
    invocation: z.number().int().positive(),
    /** As the child's parser made it. Absent when it could not be made: the first node of the mount fails then. */
    input: jsonSchema.optional(),
    /** On the wire instead of an `input` that is too large for it. */
    inputRef: contentRefSchema.optional(),
  }),
  z.strictObject({
    type: z.literal("include_exited"),
    mount: z.string(),
    workflow: z.string(),
    invocation: z.number().int().positive(),
    exit: z.string(),
    /** What the parent sees; the same as the output of the step before. Null on the wire, which has it there. */
    output: jsonSchema,
  }),
]);
export type IncludeTransition = z.infer<typeof includeTransitionSchema>;

/**
 * The latest invocation of a mount. Everything but `input` follows from the run's steps (`mountsAfter` in
 * workflow/rules); `input` is stored so that it is made once.
 */
export const mountStateSchema = z.strictObject({
  mount: z.string(),
  invocation: z.number().int().positive(),
  /** The step with which this invocation began. */
  firstStep: z.number().int().nonnegative(),
  input: jsonSchema.optional(),
  /** On the wire instead of an `input` that is too large for it. */
  inputRef: contentRefSchema.optional(),
  /** Set once it was left. */
  exit: z.string().optional(),
});
export type MountState = z.infer<typeof mountStateSchema>;
