/**
 * What is to be undone after a test. Files that share a process load this module once, and hooks count for the file that they are
 * registered in: so the hook is in a setup file (clean-after-each.ts), which is run for each file of tests.
 */
const cleanups: (() => void)[] = [];

/** Runs `clean` after the test that is running; the latest goes first. */
export function afterTest(clean: () => void): void {
  cleanups.push(clean);
}

export function cleanUp(): void {
  for (const clean of cleanups.splice(0).reverse()) clean();
}
