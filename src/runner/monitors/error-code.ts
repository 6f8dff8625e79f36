/** The code of a Node error (`ECONNREFUSED`), also of one that bundles the attempts on several addresses; "" without one. */
export function errorCodeOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (typeof code === "string") return code;
  return Array.isArray(errors) && errors.length > 0 ? errorCodeOf(errors[0]) : "";
}
