/** Monitors, and what came in through sources. */
export const MONITORS = `
CREATE TABLE monitors (
  monitor_no INTEGER PRIMARY KEY,
  -- As people call it; of a resource, with the number of its project behind it.
  name TEXT NOT NULL UNIQUE,
  resource_no INTEGER NOT NULL UNIQUE REFERENCES resources,
  origin TEXT NOT NULL CHECK (origin IN ('config','resource')),
  -- Of a managed resource: which one.
  resource_uid TEXT,
  -- What looking at it takes: a socket or a file, a process, or nothing.
  lane TEXT NOT NULL CHECK (lane IN ('network','command','heartbeat')),
  spec TEXT NOT NULL,
  spec_digest TEXT NOT NULL,
  -- What the rules keep: see src/resource/rules/monitor.
  state TEXT NOT NULL,
  -- When it is looked at next: durable, so that a restart goes on where the last server was.
  next_at INTEGER NOT NULL,
  last_at INTEGER,
  last_finding TEXT,
  last_ms REAL,
  -- Of a heartbeat: when the job reported last.
  beat_at INTEGER,
  checks INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  -- Checks that were due while nobody could look.
  missed INTEGER NOT NULL DEFAULT 0,
  -- Probes in a row that could not be made, for a cause on our side.
  unseen INTEGER NOT NULL DEFAULT 0,
  alerts INTEGER NOT NULL DEFAULT 0,
  -- The repair that was asked for, or started, for the present trouble.
  repair TEXT,
  repairs TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX monitors_due ON monitors (lane, next_at);
CREATE INDEX monitors_repair ON monitors (monitor_no) WHERE repair IS NOT NULL;

-- Requests that a webhook source took, so that none counts twice. Never their bodies.
CREATE TABLE source_receipts (
  source TEXT NOT NULL,
  receipt_id TEXT NOT NULL,
  body_digest TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  PRIMARY KEY (source, receipt_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX source_receipts_age ON source_receipts (received_at);

-- Where a schedule source stands: the occurrence that it waits for.
CREATE TABLE source_schedules (
  source TEXT PRIMARY KEY,
  definition_digest TEXT NOT NULL,
  next_at INTEGER NOT NULL,
  last_at INTEGER,
  missed INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
`;
