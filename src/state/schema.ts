/**
 * Version 1 of the database. STRICT tables; integer keys inside, public ids beside them. JSON values are canonical text,
 * or `@sha256:<hex>` when they are large and live in `blobs` (see values.ts). Times are integer milliseconds.
 *
 * Rows that answers and steps write are keyed by numbers in order of creation, and what is large and never changes stands in a table of
 * its own: commands of one batch then share pages, which decides what a commit costs. Each public id has one index, no more.
 */

/** "HOLD" in ASCII: SQLite's application id of our files. */
export const APPLICATION_ID = 0x484f4c44;
export const SCHEMA_NAME = "holdpoint-state";
export const SCHEMA_VERSION = 1;

export const SCHEMA_V1 = `
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
  resource_type TEXT NOT NULL CHECK (resource_type IN ('server','run','decision','channel')),
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
  kind TEXT NOT NULL CHECK (kind IN ('runner','adapter')),
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
CREATE INDEX runs_by_status ON runs (status);
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
  cause_type TEXT NOT NULL CHECK (cause_type IN ('start','decision','checkpoint')),
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

-- Passive messages of a run, numbered through it, once for each node and visit.
CREATE TABLE notifications (
  notification_id TEXT PRIMARY KEY,
  run_no INTEGER NOT NULL REFERENCES runs,
  notification_index INTEGER NOT NULL CHECK (notification_index >= 0),
  node_id TEXT NOT NULL,
  visit INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('progress','final')),
  message TEXT NOT NULL,
  audience TEXT,
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

CREATE TABLE human_decisions (
  decision_no INTEGER PRIMARY KEY,
  decision_id TEXT NOT NULL UNIQUE,
  resource_no INTEGER NOT NULL UNIQUE REFERENCES resources,
  run_no INTEGER NOT NULL REFERENCES runs,
  attempt_no INTEGER NOT NULL,
  node_id TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  audience TEXT NOT NULL,
  title TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  policy TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending','accepted','cancelled')),
  deadline_at INTEGER,
  default_response TEXT,
  -- What its cards show besides the request: the configured zone, the names of those asked (JSON array).
  time_zone TEXT NOT NULL,
  asked TEXT NOT NULL,
  -- Whose answers were waited for in vain: everybody has voted, and no choice has enough.
  everybody_voted INTEGER NOT NULL DEFAULT 0 CHECK (everybody_voted IN (0, 1)),
  -- Reminders sent, and when the next is due.
  reminders INTEGER NOT NULL DEFAULT 0,
  remind_at INTEGER,
  -- When a second audience is to be asked; since when it is, and why.
  escalate_at INTEGER,
  escalated_at INTEGER,
  escalated_to TEXT,
  -- Names of those whom it asks (JSON array).
  escalated_asked TEXT,
  escalation_cause TEXT CHECK (escalation_cause IN ('silence','undeliverable','noQuorum')),
  created_at INTEGER NOT NULL,
  CHECK ((escalated_at IS NULL) = (escalated_to IS NULL)),
  CHECK (escalated_at IS NULL OR (escalate_at IS NULL AND escalation_cause IS NOT NULL))
) STRICT;
CREATE INDEX human_decisions_remind ON human_decisions (remind_at) WHERE status = 'pending' AND remind_at IS NOT NULL;
CREATE INDEX human_decisions_escalate ON human_decisions (escalate_at) WHERE status = 'pending' AND escalate_at IS NOT NULL;
CREATE UNIQUE INDEX human_decisions_digest ON human_decisions (request_digest);
CREATE INDEX human_decisions_pending ON human_decisions (deadline_at) WHERE status = 'pending';
CREATE INDEX human_decisions_run ON human_decisions (run_no);

CREATE TABLE human_decision_requests (
  decision_no INTEGER PRIMARY KEY REFERENCES human_decisions,
  -- The normalized request (holdpoint.human-decision-request.v1).
  request TEXT NOT NULL
) STRICT;

CREATE TABLE human_decision_resolutions (
  decision_no INTEGER PRIMARY KEY REFERENCES human_decisions,
  outcome TEXT NOT NULL CHECK (outcome IN ('accepted','cancelled')),
  provenance TEXT NOT NULL CHECK (provenance IN ('human','timeout_policy','explicit_cancel','expired_no_default')),
  choice TEXT,
  input TEXT,
  person_id TEXT,
  -- The name as it was shown then.
  person_name TEXT,
  actor_id TEXT,
  channel TEXT,
  assurance TEXT CHECK (assurance IS NULL OR assurance IN ('remote','local')),
  event_id TEXT,
  request_digest TEXT NOT NULL,
  grace_after_outage INTEGER NOT NULL DEFAULT 0 CHECK (grace_after_outage IN (0, 1)),
  reason TEXT,
  resolved_at INTEGER NOT NULL,
  CHECK ((outcome = 'accepted') = (choice IS NOT NULL))
) STRICT;
CREATE INDEX human_decision_resolutions_text ON human_decision_resolutions (event_id) WHERE input IS NOT NULL;

CREATE TABLE human_decision_submissions (
  submission_no INTEGER PRIMARY KEY,
  decision_no INTEGER NOT NULL REFERENCES human_decisions,
  source TEXT NOT NULL CHECK (source IN ('channel','control','policy')),
  channel TEXT,
  actor_id TEXT,
  person_id TEXT,
  choice TEXT,
  input TEXT,
  outcome TEXT NOT NULL CHECK (outcome IN ('won','recorded','adopted','already_resolved','rejected')),
  reason TEXT,
  submitted_at INTEGER NOT NULL
) STRICT;
CREATE INDEX human_decision_submissions_by ON human_decision_submissions (decision_no);

CREATE TABLE decision_votes (
  decision_no INTEGER NOT NULL REFERENCES human_decisions,
  person_id TEXT NOT NULL,
  choice TEXT NOT NULL,
  input TEXT,
  -- The name as it was shown then, and where the vote came from: with it the vote is judged again when people change.
  person_name TEXT,
  source TEXT NOT NULL CHECK (source IN ('channel','control')),
  channel TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  assurance TEXT NOT NULL CHECK (assurance IN ('remote','local')),
  voted_at INTEGER NOT NULL,
  -- It does not count any more, because this person may not answer; only a new vote does.
  revoked_at INTEGER,
  PRIMARY KEY (decision_no, person_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE channels (
  channel_id TEXT PRIMARY KEY,
  resource_no INTEGER NOT NULL UNIQUE REFERENCES resources,
  kind TEXT NOT NULL,
  profile TEXT NOT NULL,
  channel_epoch INTEGER NOT NULL,
  -- Last update id handled in this epoch; not a maximum.
  cursor INTEGER,
  cursor_at INTEGER,
  adapter_epoch TEXT,
  -- When a poll last came back, and a silence that ended and whose cards are not offered again yet.
  polled_at INTEGER,
  silent_from INTEGER,
  silent_to INTEGER,
  -- It has heard nothing since, why, and to which destinations that was told (JSON array).
  deaf_since INTEGER,
  deaf_cause TEXT CHECK (deaf_cause IN ('conflict','unreachable','token','adapter')),
  deaf_told TEXT,
  CHECK ((silent_from IS NULL) = (silent_to IS NULL)),
  CHECK ((deaf_since IS NULL) = (deaf_cause IS NULL) AND (deaf_since IS NULL) = (deaf_told IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_inbox (
  channel_id TEXT NOT NULL REFERENCES channels,
  channel_epoch INTEGER NOT NULL,
  update_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  verdict TEXT NOT NULL,
  -- What the tap was told (a reply code with values), so that a repeated update is told the same.
  ack TEXT,
  digest TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  PRIMARY KEY (channel_id, channel_epoch, update_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX channel_inbox_age ON channel_inbox (received_at);

-- What is remembered about a chat: until when the service wants it left alone, when help was last given there, since when it is known
-- that it cannot be reached, and the id that it has now (a group that became a supergroup).
CREATE TABLE channel_places (
  channel_id TEXT NOT NULL REFERENCES channels,
  place TEXT NOT NULL,
  held_until INTEGER NOT NULL DEFAULT 0,
  helped_at INTEGER,
  dead_at INTEGER,
  dead_error TEXT,
  moved_to TEXT,
  CHECK ((dead_at IS NULL) = (dead_error IS NULL)),
  PRIMARY KEY (channel_id, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE effects (
  -- Order of creation, which is the order of sending in one place.
  effect_no INTEGER PRIMARY KEY,
  effect_id TEXT NOT NULL UNIQUE,
  -- What people type: "e-9f31c2", the beginning of the id's hash, so that the id's index finds it.
  short_id TEXT NOT NULL,
  -- Whose event chain tells about it: the run, the decision or the channel.
  resource_no INTEGER NOT NULL REFERENCES resources,
  purpose TEXT NOT NULL CHECK (purpose IN ('action','delivery','settlement','reply','notification')),
  effect_type TEXT NOT NULL,
  -- What makes it one: unique without an index of its own, because effect_id is its hash.
  idempotency_key TEXT NOT NULL,
  request TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  run_no INTEGER REFERENCES runs,
  node_id TEXT,
  recovery TEXT CHECK (recovery IS NULL OR recovery IN ('idempotent','observed','manual')),
  decision_no INTEGER REFERENCES human_decisions,
  channel_id TEXT REFERENCES channels,
  destination TEXT,
  -- The chat of the destination, without its topic: one message at a time is on its way there.
  place TEXT,
  -- What a settlement edits or a reply answers.
  target_reference TEXT,
  target_part INTEGER,
  -- Sent without marks on its text, because the service refused them.
  plain INTEGER NOT NULL DEFAULT 0 CHECK (plain IN (0, 1)),
  status TEXT NOT NULL CHECK (status IN ('pending','applying','applied','rejected','ambiguous','cancelled')),
  attempt_count INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER NOT NULL,
  result TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  settled_at INTEGER,
  CHECK ((purpose = 'action') = (recovery IS NOT NULL)),
  CHECK ((purpose = 'action') = (channel_id IS NULL))
) STRICT;
-- Two lines per place: posts keep their order, edits go by themselves.
CREATE INDEX effects_queue ON effects (channel_id, place, purpose = 'settlement', effect_no) WHERE status = 'pending' AND channel_id IS NOT NULL;
-- Those that wait for a later time, which are few.
CREATE INDEX effects_later ON effects (channel_id, next_attempt_at) WHERE status = 'pending' AND next_attempt_at > created_at;
CREATE INDEX effects_applying ON effects (channel_id, place) WHERE status = 'applying';
CREATE INDEX effects_ambiguous ON effects (effect_no) WHERE status = 'ambiguous';
CREATE INDEX effects_decision ON effects (decision_no) WHERE decision_no IS NOT NULL;
CREATE INDEX effects_run ON effects (run_no) WHERE run_no IS NOT NULL;

CREATE TABLE effect_attempts (
  effect_no INTEGER NOT NULL REFERENCES effects,
  attempt_number INTEGER NOT NULL,
  -- Runner epoch or adapter epoch.
  owner_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('recorded','dispatching','accepted','rejected','notSent','ambiguous')),
  from_part INTEGER NOT NULL DEFAULT 1,
  -- When an earlier copy of its first part was sent whose arrival is not known: this copy says so, and goes on saying so.
  repeat_of INTEGER,
  recorded_at INTEGER NOT NULL,
  dispatched_at INTEGER,
  finished_at INTEGER,
  error TEXT,
  PRIMARY KEY (effect_no, attempt_number)
) STRICT, WITHOUT ROWID;

-- How long nobody knew whether an effect happened: from its uncertain end until evidence, a policy or a person ended that.
CREATE TABLE effect_doubts (
  effect_no INTEGER NOT NULL REFERENCES effects,
  since INTEGER NOT NULL,
  until INTEGER,
  -- The transition that ended it.
  ended_by TEXT,
  -- When a person was asked about it elsewhere, and by which effect.
  asked_at INTEGER,
  asked_effect_no INTEGER REFERENCES effects,
  -- Who ended it, as it was shown then; and when the question was closed.
  ended_by_name TEXT,
  closed_at INTEGER,
  PRIMARY KEY (effect_no, since),
  CHECK ((until IS NULL) = (ended_by IS NULL)),
  CHECK ((asked_at IS NULL) = (asked_effect_no IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX effect_doubts_open ON effect_doubts (since) WHERE until IS NULL;
CREATE INDEX effect_doubts_asked ON effect_doubts (asked_effect_no) WHERE asked_effect_no IS NOT NULL AND closed_at IS NULL;

CREATE TABLE effect_parts (
  effect_no INTEGER NOT NULL REFERENCES effects,
  attempt_number INTEGER NOT NULL,
  part INTEGER NOT NULL,
  parts_of INTEGER NOT NULL,
  channel_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('dispatching','accepted','rejected','notSent','ambiguous')),
  reference TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (effect_no, attempt_number, part),
  CHECK (reference IS NULL OR state = 'accepted')
) STRICT, WITHOUT ROWID;
CREATE INDEX effect_parts_unclear ON effect_parts (channel_id) WHERE state IN ('dispatching', 'ambiguous');
CREATE INDEX effect_parts_reference ON effect_parts (channel_id, reference) WHERE reference IS NOT NULL;

-- A button's token: only its hash is stored. It is bound to one choice and one attempt of a delivery, and through that to its
-- destination and to its decision, of which every version is a row of its own.
CREATE TABLE decision_tokens (
  token_hash BLOB PRIMARY KEY CHECK (length(token_hash) = 32),
  effect_no INTEGER NOT NULL REFERENCES effects,
  attempt_number INTEGER NOT NULL,
  choice TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What was done with the buttons of one item of an answer: once, by whoever was first.
CREATE TABLE operator_uses (
  effect_no INTEGER NOT NULL REFERENCES effects,
  item INTEGER NOT NULL,
  action TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  -- The name as it was shown then.
  name TEXT,
  used_at INTEGER NOT NULL,
  PRIMARY KEY (effect_no, item)
) STRICT, WITHOUT ROWID;

-- When a card was last offered again at a destination, by itself or in a list: not more often than its interval.
CREATE TABLE decision_offers (
  decision_no INTEGER NOT NULL REFERENCES human_decisions,
  destination TEXT NOT NULL,
  offered_at INTEGER NOT NULL,
  PRIMARY KEY (decision_no, destination)
) STRICT, WITHOUT ROWID;

-- A question for text: the reply to this effect's message is the answer of this person for this choice.
CREATE TABLE decision_prompts (
  effect_no INTEGER PRIMARY KEY REFERENCES effects,
  decision_no INTEGER NOT NULL REFERENCES human_decisions,
  request_digest TEXT NOT NULL,
  choice TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  place TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX decision_prompts_decision ON decision_prompts (decision_no);
`;
