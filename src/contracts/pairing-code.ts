/**
 * The one-time code of a set-up: shown in the terminal, sent to the bot from the phone. Only who can read this terminal knows it,
 * so nobody else can pair although anybody can write to a bot.
 */
import { timingSafeEqual } from "node:crypto";
import { SETUP } from "./limits.ts";

/** No characters that are easily confused. */
const ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";
const FORM = new RegExp(`^[${ALPHABET}]{${SETUP.codeChars}}$`);

/** A fresh code without its hyphen. `random` gives that many random bytes. */
export function newPairingCode(random: (size: number) => Buffer): string {
  let code = "";
  // Bytes beyond the last whole multiple are thrown away, so that every character is equally likely.
  const usable = 256 - (256 % ALPHABET.length);
  while (code.length < SETUP.codeChars)
    for (const byte of random(SETUP.codeChars)) {
      if (byte < usable && code.length < SETUP.codeChars) code += ALPHABET[byte % ALPHABET.length];
    }
  return code;
}

/** As people read it: `7k3f-92qx`. */
export function shownCode(code: string): string {
  const half = code.length / 2;
  return `${code.slice(0, half)}-${code.slice(half)}`;
}

/** What of a message has the form of a code, in any case and with or without its hyphen; null = none. */
export function pairingCodeIn(text: string, botName: string | null): string | null {
  const words = text
    .trim()
    .split(/\s+/)
    .filter((word) => botName === null || word.toLowerCase() !== `@${botName.toLowerCase()}`);
  const code = words
    .join("")
    .replaceAll(/[-\u2010-\u2015]/g, "")
    .toLowerCase();
  return FORM.test(code) ? code : null;
}

export function isPairingCode(given: string, code: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(code)];
  return a.length === b.length && timingSafeEqual(a, b);
}
