/** The identity of a graph: two definitions with one digest route alike and ask the same choices. */
import { sha256Digest, type Sha256Digest } from "../../contracts/canonical.ts";
import type { DefinitionSnapshot } from "../../contracts/definition.ts";

/** `sha256:` and the hex digest of the snapshot's canonical JSON. The order of nodes does not matter, that of edges does. */
export function definitionDigest(definition: DefinitionSnapshot): Sha256Digest {
  return sha256Digest(definition);
}
