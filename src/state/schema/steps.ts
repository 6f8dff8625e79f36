/** What a run did: attempts, nodes, requests, notifications, updates, settings and follow-ups. */
export const STEPS = `
CREATE TABLE node_attempts (
  run_no INTEGER NOT NULL REFERENCES runs,
  -- Counts through the whole run, from 1.
  attempt_no INTEGER NOT NULL,
  node_id TEXT NOT NULL,
  visit INTEGER NOT NULL,
  attempt_number INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running','waiting','interrupted','completed','failed','timed_out','cancelled')),
  -- The step this attempt produced; null while open and for interrupted ones.
  step INTEGER,
  output TEXT,
  error TEXT,
  runner_epoch TEXT,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  -- As the runner measured it: nodes of one frame have one time of storing.
  duration_ms REAL,
  -- The settings it was made with.
  settings_scope TEXT,
  settings_change INTEGER,
  PRIMARY KEY (run_no, attempt_no)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX node_attempts_open ON node_attempts (run_no) WHERE status IN ('running','waiting');

-- The latest result and the counters of each node: what a resume needs, without reading history.
CREATE TABLE run_nodes (
  run_no INTEGER NOT NULL REFERENCES runs,
  node_id TEXT NOT NULL,
  visits INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  outcome TEXT,
  output TEXT,
  error TEXT,
  PRIMARY KEY (run_no, node_id)
) STRICT, WITHOUT ROWID;

-- The latest invocation of each mount. Where it begins and how it was left follows from the steps; its input is made once.
CREATE TABLE run_mounts (
  run_no INTEGER NOT NULL REFERENCES runs,
  mount TEXT NOT NULL,
  invocation INTEGER NOT NULL CHECK (invocation > 0),
  first_step INTEGER NOT NULL,
  input TEXT,
  exit TEXT,
  PRIMARY KEY (run_no, mount)
) STRICT, WITHOUT ROWID;

-- What a run waits for besides decisions: a checkpoint, which any operator may answer.
CREATE TABLE interactive_requests (
  request_id TEXT PRIMARY KEY,
  -- What people type: "c-9f31c2".
  short_id TEXT NOT NULL,
  run_no INTEGER NOT NULL REFERENCES runs,
  attempt_no INTEGER NOT NULL,
  node_id TEXT NOT NULL,
  visit INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('checkpoint')),
  content TEXT NOT NULL,
  summary TEXT,
  status TEXT NOT NULL CHECK (status IN ('pending','settled','cancelled')),
  answer TEXT,
  settled_by TEXT,
  created_at INTEGER NOT NULL,
  settled_at INTEGER,
  CHECK ((status = 'settled') = (answer IS NOT NULL)),
  CHECK ((status = 'pending') = (settled_at IS NULL)),
  UNIQUE (run_no, attempt_no)
) STRICT, WITHOUT ROWID;
CREATE INDEX interactive_requests_short ON interactive_requests (short_id);
CREATE INDEX interactive_requests_pending ON interactive_requests (run_no) WHERE status = 'pending';

-- The time that a sleeping run waits for. The server fires it; no process waits.
CREATE TABLE run_timers (
  timer_id TEXT PRIMARY KEY,
  run_no INTEGER NOT NULL REFERENCES runs,
  attempt_no INTEGER NOT NULL,
  node_id TEXT NOT NULL,
  visit INTEGER NOT NULL,
  reason TEXT,
  status TEXT NOT NULL CHECK (status IN ('pending','fired','cancelled')),
  created_at INTEGER NOT NULL,
  wake_at INTEGER NOT NULL,
  settled_at INTEGER,
  CHECK ((status = 'pending') = (settled_at IS NULL)),
  UNIQUE (run_no, attempt_no)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX run_timers_pending ON run_timers (run_no) WHERE status = 'pending';
CREATE INDEX run_timers_due ON run_timers (wake_at) WHERE status = 'pending';

-- Passive messages of a run, numbered through it, once for each node and visit.
CREATE TABLE notifications (
  notification_id TEXT PRIMARY KEY,
  run_no INTEGER NOT NULL REFERENCES runs,
  notification_index INTEGER NOT NULL CHECK (notification_index >= 0),
  node_id TEXT NOT NULL,
  visit INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('progress','final')),
  message TEXT NOT NULL,
  format TEXT CHECK (format = 'markdown'),
  audience TEXT,
  severity TEXT NOT NULL CHECK (severity IN ('info','warning','critical')),
  -- With a key it is told by an alert (schema/alerts.ts), which later ones edit.
  group_key TEXT,
  silent INTEGER NOT NULL CHECK (silent IN (0, 1)),
  created_at INTEGER NOT NULL,
  UNIQUE (run_no, notification_index),
  UNIQUE (run_no, node_id, visit)
) STRICT, WITHOUT ROWID;

-- Updates of running nodes: they inform and are no part of the event chain.
CREATE TABLE workflow_updates (
  run_no INTEGER NOT NULL REFERENCES runs,
  update_seq INTEGER NOT NULL CHECK (update_seq >= 0),
  update_id TEXT NOT NULL,
  -- What makes a repeated one the same, such as the id of a tool call.
  source_id TEXT,
  attempt_no INTEGER NOT NULL,
  run_revision INTEGER NOT NULL,
  update_type TEXT NOT NULL,
  update_key TEXT NOT NULL,
  data TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (run_no, update_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX workflow_updates_slot ON workflow_updates (run_no, update_type, update_key, update_seq);
CREATE UNIQUE INDEX workflow_updates_source ON workflow_updates (run_no, source_id) WHERE source_id IS NOT NULL;

-- The newest update of each type and key.
CREATE TABLE workflow_updates_current (
  run_no INTEGER NOT NULL REFERENCES runs,
  update_type TEXT NOT NULL,
  update_key TEXT NOT NULL,
  update_seq INTEGER NOT NULL,
  PRIMARY KEY (run_no, update_type, update_key)
) STRICT, WITHOUT ROWID;

-- Admission: how many there were, and the bucket that the next ones are taken from.
CREATE TABLE workflow_update_budgets (
  run_no INTEGER PRIMARY KEY REFERENCES runs,
  updates INTEGER NOT NULL,
  slots INTEGER NOT NULL,
  tokens REAL NOT NULL,
  refilled_at INTEGER NOT NULL
) STRICT;

CREATE TABLE workflow_settings (
  scope_id TEXT PRIMARY KEY,
  run_no INTEGER NOT NULL REFERENCES runs,
  mount TEXT NOT NULL,
  invocation INTEGER NOT NULL,
  initial TEXT NOT NULL,
  current TEXT NOT NULL,
  hash TEXT NOT NULL,
  change_number INTEGER NOT NULL CHECK (change_number >= 0),
  UNIQUE (run_no, mount, invocation)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_setting_changes (
  scope_id TEXT NOT NULL REFERENCES workflow_settings,
  change_number INTEGER NOT NULL CHECK (change_number > 0),
  request_id TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  actor_type TEXT NOT NULL CHECK (actor_type IN ('session','human','controller','policy')),
  actor_id TEXT NOT NULL,
  patch TEXT NOT NULL,
  value TEXT NOT NULL,
  hash TEXT NOT NULL,
  accepted_at INTEGER NOT NULL,
  PRIMARY KEY (scope_id, change_number),
  UNIQUE (scope_id, request_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_follow_ups (
  follow_up_id TEXT PRIMARY KEY,
  run_no INTEGER NOT NULL REFERENCES runs,
  request_id TEXT NOT NULL,
  order_number INTEGER NOT NULL CHECK (order_number > 0),
  actor_type TEXT NOT NULL CHECK (actor_type IN ('session','human','controller')),
  actor_id TEXT NOT NULL,
  prompt TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('queued','sent','settled','removed','cancelled')),
  reason TEXT,
  created_at INTEGER NOT NULL,
  settled_at INTEGER,
  CHECK ((reason IS NOT NULL) = (status IN ('removed','cancelled'))),
  CHECK ((settled_at IS NULL) = (status IN ('queued','sent'))),
  UNIQUE (run_no, request_id),
  UNIQUE (run_no, order_number)
) STRICT, WITHOUT ROWID;
`;
