/** Kept where the commands look for it; terminals of other clients need the same words. */
export * from "../../renderers/terminal/times.ts";
