/**
 * The variables by which tests reach into a server. They are refused outside a loopback set-up, and no child of a server
 * gets them.
 */
export const TEST_SEAMS = [
  "HOLDPOINT_FAULT",
  "HOLDPOINT_FAULT_CHILD",
  "HOLDPOINT_FAULT_TOLD",
  "HOLDPOINT_TEST_ADAPTER",
  "HOLDPOINT_TEST_CLOCK",
  "HOLDPOINT_TEST_SETTINGS",
] as const;
