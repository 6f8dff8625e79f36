/** Managed resources, their queue, and the runs that they asked for. */
export const MANAGED = `
CREATE TABLE managed_resources (
  managed_no INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  -- Its event chain, its version and its claim.
  resource_no INTEGER NOT NULL UNIQUE REFERENCES resources,
  project_no INTEGER NOT NULL REFERENCES projects,
  manager TEXT NOT NULL,
  resource_key TEXT NOT NULL,
  -- Which lane of the server reconciles it: 'runner' for files of users, else the built-in manager.
  lane TEXT NOT NULL,
  -- The manager's file, or builtin:<name>@<revision>; what it consisted of when it was approved is in managed_sources.
  source TEXT NOT NULL,
  sources_digest TEXT,
  generation INTEGER NOT NULL CHECK (generation >= 1),
  spec TEXT NOT NULL,
  spec_digest TEXT NOT NULL,
  manager_status TEXT NOT NULL,
  conditions TEXT NOT NULL,
  observed_generation INTEGER NOT NULL DEFAULT 0,
  -- Of the condition that lists show: 'true', 'false', 'unknown'.
  ready TEXT CHECK (ready IS NULL OR ready IN ('true','false','unknown')),
  ready_reason TEXT,
  -- The child run that was asked for last.
  request_id TEXT,
  -- The last pass.
  reconciled_at INTEGER,
  outcome TEXT CHECK (outcome IS NULL OR outcome IN ('settled','requeue','requeueAfter','failed')),
  duration_ms INTEGER,
  error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deletion_at INTEGER,
  -- Set when it is gone; the row remains for its history.
  deleted_at INTEGER,
  CHECK (deleted_at IS NULL OR deletion_at IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX managed_resources_live ON managed_resources (project_no, manager, resource_key) WHERE deleted_at IS NULL;

-- What a manager consisted of when it was approved, by the digest over all of it; content in blobs under sha256.
CREATE TABLE managed_sources (
  sources_digest TEXT NOT NULL,
  path TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (sources_digest, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE managed_resource_finalizers (
  managed_no INTEGER NOT NULL REFERENCES managed_resources,
  finalizer TEXT NOT NULL,
  added_at INTEGER NOT NULL,
  PRIMARY KEY (managed_no, finalizer)
) STRICT, WITHOUT ROWID;

-- One row for each resource that waits for a pass or is in one. It only tells when; it can be made again from the resources.
CREATE TABLE managed_resource_queue (
  managed_no INTEGER PRIMARY KEY REFERENCES managed_resources,
  lane TEXT NOT NULL,
  available_at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  -- Asked for again while it was claimed: another pass follows, whatever this one says.
  again INTEGER NOT NULL DEFAULT 0 CHECK (again IN (0, 1)),
  -- Until then nobody else may take it; the claim itself is a lease.
  claimed_until INTEGER
) STRICT;
CREATE INDEX managed_resource_queue_due ON managed_resource_queue (lane, available_at) WHERE claimed_until IS NULL;
CREATE INDEX managed_resource_queue_claimed ON managed_resource_queue (lane, claimed_until) WHERE claimed_until IS NOT NULL;

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
