/** Values of a schema, as few as show each branch: every alternative, every word of a list, every optional part there and absent. */
import type { z } from "zod";

interface Def {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly options?: readonly z.ZodType[];
  readonly values?: readonly unknown[];
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly element?: z.ZodType;
  readonly innerType?: z.ZodType;
}

const ABSENT = Symbol("absent");

/** Texts and numbers in them are all different, so that each can be found again in what is made of them. */
export function samplesOf<T>(schema: z.ZodType<T>): T[] {
  let count = 0;
  const next = (): number => (count += 1);
  const walk = (given: z.ZodType): unknown[] => {
    const def = (given as unknown as { readonly def: Def }).def;
    switch (def.type) {
      case "object":
        return objects(Object.entries(def.shape ?? {}).map(([key, part]) => [key, walk(part)] as const));
      case "union":
        return (def.options ?? []).flatMap((option) => walk(option));
      case "literal":
        return [...(def.values ?? [])];
      case "enum":
        return Object.values(def.entries ?? {});
      case "string":
        return [`v${next()}v`];
      case "number":
        return [1_000 + next()];
      case "boolean":
        return [true, false];
      case "array":
        return [walk(def.element as z.ZodType), []];
      case "optional":
        return [...walk(def.innerType as z.ZodType), ABSENT];
      case "nullable":
        return [...walk(def.innerType as z.ZodType), null];
      default:
        throw new Error(`no samples of ${def.type}`);
    }
  };
  return walk(schema) as T[];
}

/** One with the first of each part, then one for each further value of a part. */
function objects(parts: readonly (readonly [string, readonly unknown[]])[]): unknown[] {
  const made = (chosen: readonly (readonly [string, unknown])[]): unknown =>
    Object.fromEntries(chosen.filter(([, value]) => value !== ABSENT));
  const first = parts.map(([key, values]) => [key, values[0]] as const);
  return [
    made(first),
    ...parts.flatMap(([key, values]) =>
      values.slice(1).map((value) => made(first.map(([other, had]) => [other, other === key ? value : had] as const))),
    ),
  ];
}
