import type { Case } from "./case.ts";
import { ends } from "./ends.ts";
import { fences } from "./fences.ts";
import { kills } from "./kills.ts";
import { implementing } from "./implementing.ts";
import { submitting } from "./submitting.ts";
import { whole } from "./whole.ts";

/** The longest first: what is left for the last lane is short. */
export const CASES: readonly Case[] = [...kills, ...implementing, ...whole, ...ends, ...submitting, ...fences];
