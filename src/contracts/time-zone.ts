/** Whether this system knows an IANA time zone. Remembered, because asking Intl costs more than a database write. */
const known = new Map<string, boolean>();

/** True for a name such as "Europe/Berlin" that Intl accepts. */
export function isTimeZone(name: string): boolean {
  const remembered = known.get(name);
  if (remembered !== undefined) return remembered;
  let valid: boolean;
  try {
    valid = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    valid = false;
  }
  // Names from outside must not fill the memory.
  if (known.size < 1_000) known.set(name, valid);
  return valid;
}
