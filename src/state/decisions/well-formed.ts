/**
 * Outside text that goes into events and replies, which take well-formed text only: half a surrogate pair becomes U+FFFD, so that no
 * message can make its own update impossible to handle.
 */
export function wellFormed(text: string): string {
  // In the lib of ES2024; every supported Node has it.
  return (text as unknown as { toWellFormed(): string }).toWellFormed();
}
