// The words that people read, by language. Each language is one module with the same exports as the English one; a further
// one is added here and in src/contracts/language.ts.

import type { Language } from "../../src/contracts/language.ts";
import * as de from "./de.ts";
import * as en from "./en.ts";

/** Texts, and functions that make them; a language may not differ in anything else. */
export type Words = Spoken<typeof en>;
type Spoken<T> = { readonly [K in keyof T]: T[K] extends string ? string : T[K] };

const WORDS: Readonly<Record<Language, Words>> = { de, en };

/** The words of a language; those of the first where none is named. */
export function wordsIn(language: Language | undefined): Words {
  return WORDS[language ?? "en"];
}
