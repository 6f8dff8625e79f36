/**
 * `holdpoint/builtins`: the newest revision of every workflow that ships with the package, to be included by others.
 *
 * Owns workflows as data for the runner: each revision in a folder of its own, loaded like a user's file. They import
 * `holdpoint` by name, as every workflow file does, and nothing of the product by path. The last two revisions stay.
 */
export { default as autoimplement } from "./autoimplement@1/autoimplement.workflow.ts";
export { default as autoplan } from "./autoplan@1/autoplan.workflow.ts";
export { default as monitor } from "./monitor@1/monitor.workflow.ts";
export { default as plainSummary } from "./plain-summary@1/plain-summary.workflow.ts";
export { default as planApproval, planApprovalFor } from "./plan-approval@2/plan-approval.workflow.ts";
export { default as planChange } from "./plan-change@1/plan-change.workflow.ts";
