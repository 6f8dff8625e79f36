/**
 * `holdpoint/builtins`: the newest approval of a plan, and how it is made for another audience. Every built-in workflow is there by itself as
 * `holdpoint/builtins/<id>`.
 *
 * Owns workflows as data for the runner: each revision in a folder of its own, loaded like a user's file. They import
 * `holdpoint` by name, as every workflow file does, each other by name (so that a project can put its own in their place) or the frozen
 * files of a revision by path, and nothing else of the product. The last two revisions stay.
 */
export { default as planApproval, planApprovalFor } from "./plan-approval@2/plan-approval.workflow.ts";
