// Started by canonical.test.ts under other locales: writes every vector canonically and reports what came out.

import { readFileSync } from "node:fs";
import { createJiti } from "jiti";

const jiti = createJiti(import.meta.url);
const { canonicalJson, sha256Digest } = await jiti.import("../../src/contracts/canonical.ts");
const { vectors } = JSON.parse(readFileSync(new URL("./canonical-vectors.json", import.meta.url), "utf8"));
const values = vectors.map((vector) => JSON.parse(vector.json));
console.log(
  JSON.stringify({
    language: new Intl.Collator().resolvedOptions().locale.slice(0, 2),
    canonical: values.map((value) => canonicalJson(value)),
    digests: values.map((value) => sha256Digest(value, { trailingNewline: true })),
  }),
);
