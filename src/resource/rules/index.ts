/** What the server needs of resource managers as well: backoff, queue, conditions. Pure. */
export { nextConditions, readiness } from "./conditions.ts";
export { afterPass, type PassEnd } from "./queue.ts";
