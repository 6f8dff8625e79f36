/**
 * `holdpoint/builtins`: the newest revision of every workflow that ships with the package, to be included by others.
 *
 * Owns workflows as data for the runner: each revision in a folder of its own, loaded like a user's file. They import
 * `holdpoint` by name, as every workflow file does, and nothing of the product by path. The last two revisions stay.
 */
export { default as planApproval, planApprovalFor } from "./plan-approval@1/plan-approval.workflow.ts";
