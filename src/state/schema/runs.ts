/** Runs: definitions, sources, queue, continuations and the processes that execute them. */
export const RUNS = `
-- Groups that a runner started for a node, by their leader.
CREATE TABLE run_processes (
  process_id TEXT PRIMARY KEY,
  run_no INTEGER NOT NULL REFERENCES runs,
  runner_epoch TEXT NOT NULL REFERENCES run_runners,
  attempt_no INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('shell','agent')),
  pid INTEGER NOT NULL,
  start_identity TEXT NOT NULL,
  registered_at INTEGER NOT NULL,
  ended_at INTEGER,
  outcome TEXT,
  CHECK ((ended_at IS NULL) = (outcome IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX run_processes_live ON run_processes (runner_epoch) WHERE ended_at IS NULL;
CREATE INDEX run_processes_run ON run_processes (run_no);
CREATE INDEX child_processes_name ON child_processes (name);

CREATE TABLE workflow_definitions (
  definition_digest TEXT PRIMARY KEY,
  workflow_name TEXT NOT NULL,
  definition TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  run_no INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE,
  -- The last part of the id, of which people type the beginning.
  short_key TEXT NOT NULL,
  resource_no INTEGER NOT NULL UNIQUE REFERENCES resources,
  project_no INTEGER NOT NULL REFERENCES projects,
  workflow_name TEXT NOT NULL,
  workflow_path TEXT NOT NULL,
  definition_digest TEXT REFERENCES workflow_definitions,
  title TEXT,
  status TEXT NOT NULL CHECK (status IN ('queued','running','waiting','completed','failed','timed_out','cancelled')),
  paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
  -- What the run works with; \`given_input\` is what was passed, where the workflow's parser made something else of it.
  input TEXT NOT NULL,
  given_input TEXT,
  final_output TEXT,
  error TEXT,
  -- Steps finished so far; also the number of the next step.
  steps INTEGER NOT NULL DEFAULT 0,
  -- The open or last attempt.
  attempt_no INTEGER,
  -- Number of the last continuation; 0 is the start.
  continuations INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  finished_at INTEGER,
  -- A restart: the run that it repeats, at which revision, how that one had ended, and how many restarts lie before.
  parent_run_no INTEGER REFERENCES runs,
  lineage_kind TEXT CHECK (lineage_kind IS NULL OR lineage_kind = 'restart'),
  parent_revision INTEGER,
  parent_terminal_fingerprint TEXT,
  restart_number INTEGER NOT NULL DEFAULT 0,
  CHECK ((finished_at IS NOT NULL) = (status IN ('completed','failed','timed_out','cancelled'))),
  CHECK ((parent_run_no IS NULL) = (lineage_kind IS NULL) AND (lineage_kind IS NULL) = (parent_terminal_fingerprint IS NULL))
) STRICT;
CREATE UNIQUE INDEX runs_restart ON runs (parent_run_no) WHERE lineage_kind = 'restart';
-- By a column that changes once in the life of a run, instead of by the status, which every answer changes.
CREATE INDEX runs_unfinished ON runs (run_no) WHERE finished_at IS NULL;
CREATE INDEX runs_by_short_key ON runs (short_key);

CREATE TABLE run_sources (
  run_no INTEGER NOT NULL REFERENCES runs,
  path TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  -- Content in blobs under the same hash.
  PRIMARY KEY (run_no, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_queue (
  run_no INTEGER PRIMARY KEY REFERENCES runs,
  status TEXT NOT NULL CHECK (status IN ('queued','starting','running','parked','done')),
  -- 1 = a continuation, which goes before a new start.
  priority INTEGER NOT NULL DEFAULT 0,
  available_at INTEGER NOT NULL,
  consecutive_errors INTEGER NOT NULL DEFAULT 0,
  park_reason TEXT,
  error TEXT,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX run_queue_due ON run_queue (priority DESC, available_at, run_no) WHERE status = 'queued';

CREATE TABLE run_continuations (
  run_no INTEGER NOT NULL REFERENCES runs,
  -- Follows the number before it without a gap: it is counted in the run's row.
  number INTEGER NOT NULL CHECK (number >= 0),
  cause_type TEXT NOT NULL CHECK (cause_type IN ('start','decision','checkpoint','timer')),
  cause_id TEXT NOT NULL,
  carried_steps INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  -- At most one for each cause. A cause belongs to one run for ever, so the run in front takes nothing from the rule.
  PRIMARY KEY (run_no, cause_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_runners (
  runner_epoch TEXT PRIMARY KEY,
  run_no INTEGER NOT NULL REFERENCES runs,
  generation INTEGER NOT NULL,
  server_epoch INTEGER NOT NULL,
  child_id TEXT,
  command TEXT NOT NULL CHECK (command IN ('start','continue','resume')),
  status TEXT NOT NULL CHECK (status IN ('starting','ready','exited','crashed','timedOut','orphaned','claimLost','cancelled')),
  -- Steps and revision of the run when this runner became ready: they tell progress from none.
  steps_at_ready INTEGER,
  revision_at_ready INTEGER,
  started_at INTEGER NOT NULL,
  ready_at INTEGER,
  finished_at INTEGER,
  error TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX run_runners_active ON run_runners (run_no) WHERE status IN ('starting','ready');
`;
