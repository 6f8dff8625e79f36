/** The identity of a graph: two definitions with one digest route alike and ask the same choices. */
import { sha256Digest, type Sha256Digest } from "../../contracts/canonical.ts";
import type { DefinitionSnapshot } from "../../contracts/definition.ts";

/**
 * `sha256:` and the hex digest of the snapshot's canonical JSON, without the places of included files: where a file lies
 * does not change what it says. The order of nodes does not matter, that of edges does.
 */
export function definitionDigest(definition: DefinitionSnapshot): Sha256Digest {
  const { includes } = definition;
  if (includes === undefined) return sha256Digest(definition);
  const placeless = Object.entries(includes).map(
    ([mount, { source: _source, ...include }]) => [mount, include] as const,
  );
  return sha256Digest({ ...definition, includes: Object.fromEntries(placeless) });
}
