// The words that people read, by language. Each language is one module with the same exports as the English one; a further
// one is added here and in src/contracts/language.ts.

import type { Language } from "../../src/contracts/language.ts";
import * as en from "./en.ts";

export type Words = typeof en;

const WORDS: Readonly<Record<Language, Words>> = { en };

/** The words of a language; those of the first where none is named. */
export function wordsIn(language: Language | undefined): Words {
  return WORDS[language ?? "en"];
}
