/**
 * The valid word that a mistyped one probably meant.
 */

/** The nearest of the valid words by edits (swapped neighbours count one), or undefined when none is near. */
export function nearest(word: string, valid: readonly string[]): string | undefined {
  const given = word.toLowerCase();
  let best: { word: string; edits: number } | undefined;
  for (const candidate of valid) {
    const target = candidate.toLowerCase();
    const edits = given !== "" && target.startsWith(given) ? 1 : distance(given, target);
    if (best === undefined || edits < best.edits) best = { word: candidate, edits };
  }
  // Beyond this a suggestion is a guess that misleads.
  return best !== undefined && best.edits <= Math.max(2, Math.ceil(word.length / 2)) ? best.word : undefined;
}

/** "Did you mean X?" with the whole choice, for remedies. */
export function suggestion(word: string, valid: readonly string[]): string {
  const near = nearest(word, valid);
  const list = valid.length > 0 ? `Valid: ${valid.join(", ")}.` : "";
  return near === undefined ? list : `Did you mean ${near}? ${list}`.trim();
}

/** Optimal string alignment: insertions, deletions, replacements and swaps of neighbours. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let edits = Math.min(at(rows, i - 1, j) + 1, (row[j - 1] as number) + 1, at(rows, i - 1, j - 1) + same);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) edits = Math.min(edits, at(rows, i - 2, j - 2) + 1);
      row.push(edits);
    }
    rows.push(row);
  }
  return at(rows, a.length, b.length);
}

function at(rows: readonly number[][], i: number, j: number): number {
  return rows[i]?.[j] ?? 0;
}
