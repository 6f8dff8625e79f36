/** Decisions: request, resolution, submissions and votes. */
export const DECISIONS = `
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
  -- A list of cards after a silence names it: that message is edited when the decision ends.
  listed INTEGER NOT NULL DEFAULT 0 CHECK (listed IN (0, 1)),
  -- Its whole text goes as a document where a channel takes files; its card holds the beginning.
  document INTEGER NOT NULL DEFAULT 0 CHECK (document IN (0, 1)),
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
  -- Its choices once more, by themselves: with them an answer is judged, and the whole request may be large.
  choices TEXT NOT NULL,
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
`;
