/** How long a resource waits after a pass that failed. */
import { RESOURCE } from "../../contracts/limits.ts";

/**
 * Milliseconds until the next pass: 1 s, 2 s, 4 s … 60 s, each made up to a fifth longer or shorter.
 *
 * @param failures consecutive ones, this one included; from 1.
 * @param random evenly in [0, 1).
 */
export function backoffMs(failures: number, random: number): number {
  const { backoffJitter, backoffMaxMs, backoffMinMs } = RESOURCE;
  const doublings = Math.min(Math.max(0, failures - 1), 16);
  const base = Math.min(backoffMaxMs, backoffMinMs * 2 ** doublings);
  return Math.round(base * (1 + backoffJitter * (2 * random - 1)));
}
