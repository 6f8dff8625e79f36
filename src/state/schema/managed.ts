/** Resource managers and the runs that they asked for. */
export const MANAGED = `
-- Runs that a resource manager asked for: one for each owner and stable key. The run id is stored before anything is scheduled.
CREATE TABLE managed_resource_workflows (
  request_id TEXT PRIMARY KEY,
  -- Who asked: the resource, as its manager names it.
  owner TEXT NOT NULL,
  request_key TEXT NOT NULL,
  workflow_name TEXT NOT NULL,
  input_fingerprint TEXT NOT NULL,
  run_no INTEGER NOT NULL UNIQUE REFERENCES runs,
  -- Set by its own command once the run has ended, never by the run's claim.
  status TEXT NOT NULL CHECK (status IN ('open','succeeded','failed','interrupted')),
  error TEXT,
  created_at INTEGER NOT NULL,
  completed_at INTEGER,
  CHECK ((status = 'open') = (completed_at IS NULL)),
  UNIQUE (owner, request_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX managed_resource_workflows_open ON managed_resource_workflows (run_no) WHERE status = 'open';
`;
