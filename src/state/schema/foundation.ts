/** What every aggregate stands on: blobs, the server itself, projects, resources, leases, events and receipts. */
export const FOUNDATION = `
CREATE TABLE schema_meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  schema_name TEXT NOT NULL,
  schema_version INTEGER NOT NULL,
  schema_digest TEXT NOT NULL,
  product_version TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE blobs (
  blob_hash BLOB PRIMARY KEY CHECK (length(blob_hash) = 32),
  byte_length INTEGER NOT NULL CHECK (byte_length = length(content)),
  content BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE server_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  epoch INTEGER NOT NULL CHECK (epoch >= 0),
  server_id TEXT,
  pid INTEGER,
  start_identity TEXT,
  started_at INTEGER,
  heartbeat_at INTEGER,
  released_at INTEGER
) STRICT;

CREATE TABLE projects (
  project_no INTEGER PRIMARY KEY,
  canonical_path TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;

-- The shared head of every aggregate: revision and event chain.
CREATE TABLE resources (
  resource_no INTEGER PRIMARY KEY,
  resource_type TEXT NOT NULL CHECK (resource_type IN ('server','run','decision','channel','monitor','managed','alert')),
  aggregate_key TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 0 CHECK (revision >= 0),
  event_count INTEGER NOT NULL DEFAULT 0 CHECK (event_count >= 0),
  head_digest BLOB CHECK (head_digest IS NULL OR length(head_digest) = 32),
  created_at INTEGER NOT NULL,
  UNIQUE (resource_type, aggregate_key)
) STRICT;

CREATE TABLE leases (
  resource_no INTEGER PRIMARY KEY REFERENCES resources,
  generation INTEGER NOT NULL CHECK (generation >= 0),
  server_epoch INTEGER,
  owner_id TEXT,
  token_hash BLOB,
  acquired_at INTEGER,
  heartbeat_at INTEGER,
  expires_at INTEGER,
  CHECK ((owner_id IS NULL) = (token_hash IS NULL) AND (owner_id IS NULL) = (expires_at IS NULL))
) STRICT;

-- In the order of writing, whatever the resource: a batch of many resources appends to one page instead of splitting one for each.
CREATE TABLE events (
  event_no INTEGER PRIMARY KEY,
  resource_no INTEGER NOT NULL REFERENCES resources,
  event_index INTEGER NOT NULL CHECK (event_index >= 0),
  revision INTEGER NOT NULL,
  event_type TEXT NOT NULL,
  actor_type TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  payload TEXT NOT NULL,
  payload_digest BLOB NOT NULL,
  digest BLOB NOT NULL,
  recorded_at INTEGER NOT NULL,
  UNIQUE (resource_no, event_index)
) STRICT;

CREATE TABLE server_commands (
  client_id TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  operation TEXT NOT NULL,
  fingerprint BLOB NOT NULL,
  result TEXT NOT NULL,
  server_epoch INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (client_id, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE child_processes (
  child_id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('runner','adapter','probes','command','resource')),
  name TEXT NOT NULL,
  server_epoch INTEGER NOT NULL,
  pid INTEGER NOT NULL,
  start_identity TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  outcome TEXT,
  diagnostic TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX child_processes_live ON child_processes (server_epoch) WHERE ended_at IS NULL;
`;
