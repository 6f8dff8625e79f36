/** What `autoimplement` is given, and the shapes of what its steps produce. */
import { z } from "zod";
import { planSchema } from "../autoplan@1/plan.ts";

/** A shell command, or a program with its arguments. */
const commandSchema = z.union([
  z.string().min(1).max(4_000),
  z.strictObject({
    id: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/)
      .optional(),
    command: z.string().min(1).max(1_000),
    args: z.array(z.string().max(4_000)).max(64).default([]),
  }),
]);
export type VerifyCommand = z.infer<typeof commandSchema>;

export const inputSchema = z
  .strictObject({
    /** What is to be done; with a plan, what it is for. */
    task: z.string().min(1).max(8_000).optional(),
    plan: planSchema.optional(),
    /** A folder inside the git repository; relative ones count from the project. */
    repository: z.string().min(1).max(1_000).default("."),
    /** Where the work begins. */
    base: z.string().min(1).max(200).regex(/^[^-]/).default("HEAD"),
    /** A new branch; left out: `holdpoint/<id>`. */
    branch: z.string().min(1).max(200).regex(/^[^-]/).optional(),
    /** What must succeed, in this order, before anything counts as done. */
    verify: z.array(commandSchema).min(1).max(16),
    /** For all of them together. */
    verifyMinutes: z.int().min(1).max(60).default(45),
    maxRepairs: z.int().min(0).max(5).default(2),
  })
  .refine(({ plan, task }) => plan !== undefined || task !== undefined, "a plan or a task is needed");
export type Given = z.input<typeof inputSchema>;
export type Input = z.infer<typeof inputSchema>;

/** What the implementing agent says at its end. */
export const workSchema = z.strictObject({
  outcome: z.enum(["done", "blocked"]),
  summary: z.string().min(1).max(4_000),
});
export type Work = z.infer<typeof workSchema>;

export interface Workspace {
  /** Top folder of the repository. */
  readonly repository: string;
  /** The prepared worktree. */
  readonly folder: string;
  readonly branch: string;
  /** The commit at which the work began. */
  readonly base: string;
}

export interface Check {
  readonly id: string;
  readonly outcome: string;
  readonly exitCode: number | null;
  /** The end of what it wrote. */
  readonly output: string;
}
export interface Verification {
  readonly passed: boolean;
  readonly checks: readonly Check[];
}

export interface Committed {
  /** Null when nothing was changed. */
  readonly commit: string | null;
  /** At most 200, relative to the repository. */
  readonly files: readonly string[];
}
