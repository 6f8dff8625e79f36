/** Values of authors as the JSON that is stored. */
import { canonicalJson } from "../contracts/canonical.ts";
import { messageOf } from "../contracts/errors.ts";
import type { JsonValue } from "../contracts/protocol/shared.ts";
import { invalid } from "./definition.ts";

/** A copy of a value as JSON; undefined fields are left out. Throws `managerInvalid` that names what it is. */
export function asJson(value: unknown, what: string): JsonValue {
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) throw new Error(`it is ${typeof value}`);
    const json = JSON.parse(text) as JsonValue;
    canonicalJson(json);
    return json;
  } catch (error) {
    throw invalid(`${what[0]?.toUpperCase()}${what.slice(1)} cannot be stored as JSON: ${messageOf(error)}.`);
  }
}
