/** Sessions of Pi: the runs that belong to them, steps that their agents do, and turns. */
export const PI_SESSIONS = `
-- The session that a run was started from, and where its agent steps are done. A session has one run at a time.
CREATE TABLE run_bindings (
  run_no INTEGER PRIMARY KEY REFERENCES runs,
  session_id TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('interactive','headless')),
  -- The turn that started it, until that has ended: the run is reserved and does not begin before.
  reserved_turn TEXT,
  -- 1 until the run has ended.
  open INTEGER CHECK (open = 1),
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX run_bindings_open ON run_bindings (session_id) WHERE open = 1;
CREATE INDEX run_bindings_session ON run_bindings (session_id, run_no);
CREATE INDEX run_bindings_reserved ON run_bindings (session_id) WHERE reserved_turn IS NOT NULL;

-- A step that waits for the agent of a session: one for each visit of a node, whatever number of attempts it takes.
CREATE TABLE agent_requests (
  request_id TEXT PRIMARY KEY,
  run_no INTEGER NOT NULL REFERENCES runs,
  session_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  visit INTEGER NOT NULL,
  -- Prompt, contract, tools, time limit.
  step TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending','validating','settled','failed','timed_out','cancelled')),
  output TEXT,
  error TEXT,
  -- Turns that ended without a result.
  unproductive INTEGER NOT NULL DEFAULT 0,
  -- Messages after the first: reminders and resumptions.
  messages INTEGER NOT NULL DEFAULT 0,
  active_ms INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  settled_at INTEGER,
  CHECK ((settled_at IS NULL) = (status IN ('pending','validating'))),
  CHECK ((status = 'settled') = (output IS NOT NULL)),
  UNIQUE (run_no, node_id, visit)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX agent_requests_open ON agent_requests (run_no) WHERE status IN ('pending','validating');

-- What the agent handed in, once for each tool call (or turn, where the text of its last message counts).
CREATE TABLE agent_submissions (
  request_id TEXT NOT NULL REFERENCES agent_requests,
  submission_key TEXT NOT NULL,
  output TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('validating','accepted','rejected')),
  -- Why it was rejected, for the agent.
  message TEXT,
  submitted_at INTEGER NOT NULL,
  CHECK ((status = 'rejected') = (message IS NOT NULL)),
  PRIMARY KEY (request_id, submission_key)
) STRICT, WITHOUT ROWID;

-- Turns of a session's agent; those that a message of ours began belong to it.
CREATE TABLE workflow_turns (
  session_id TEXT NOT NULL,
  turn_id TEXT NOT NULL,
  effect_no INTEGER REFERENCES effects,
  request_id TEXT REFERENCES agent_requests,
  stop TEXT CHECK (stop IN ('completed','aborted','error','lost')),
  response_entry TEXT,
  -- How long the agent was at work in it, without what its clock runs for now.
  counted_ms INTEGER NOT NULL DEFAULT 0,
  -- Since when its clock runs; it stands while its session is away, which may be gone.
  counting_since INTEGER,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK ((stop IS NULL) = (ended_at IS NULL)),
  CHECK (ended_at IS NULL OR counting_since IS NULL),
  PRIMARY KEY (session_id, turn_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX workflow_turns_open ON workflow_turns (session_id) WHERE ended_at IS NULL;
CREATE INDEX workflow_turns_message ON workflow_turns (effect_no) WHERE effect_no IS NOT NULL;

-- The ended run that a person does not want to see any longer in a session.
CREATE TABLE session_terminal_views (
  session_id TEXT PRIMARY KEY,
  cleared_run_no INTEGER NOT NULL REFERENCES runs,
  cleared_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;
