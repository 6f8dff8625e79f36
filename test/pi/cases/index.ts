import { branching } from "./branching.ts";
import type { Case } from "./case.ts";
import { ends } from "./ends.ts";
import { fences } from "./fences.ts";
import { limits } from "./limits.ts";
import { kills } from "./kills.ts";
import { implementing } from "./implementing.ts";
import { plainly } from "./plainly.ts";
import { sessions } from "./sessions.ts";
import { submitting } from "./submitting.ts";
import { survive } from "./survive.ts";
import { terminal } from "./terminal.ts";
import { whole } from "./whole.ts";

/** The longest first: what is left for the last lane is short. */
export const CASES: readonly Case[] = [
  ...kills,
  ...survive,
  ...branching,
  ...limits,
  ...plainly,
  ...terminal,
  ...sessions,
  ...implementing,
  ...whole,
  ...ends,
  ...submitting,
  ...fences,
];
