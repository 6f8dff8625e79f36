import type { Case } from "./case.ts";
import { ends } from "./ends.ts";
import { fences } from "./fences.ts";
import { submitting } from "./submitting.ts";
import { whole } from "./whole.ts";

export const CASES: readonly Case[] = [...submitting, ...fences, ...ends, ...whole];
