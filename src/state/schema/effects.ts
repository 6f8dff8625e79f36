/** Effects and their attempts, doubts, parts, tokens and prompts. */
export const EFFECTS = `
CREATE TABLE effects (
  -- Order of creation, which is the order of sending in one place.
  effect_no INTEGER PRIMARY KEY,
  effect_id TEXT NOT NULL,
  -- What people type: "e-9f31c2", the beginning of the id's hash.
  short_id TEXT NOT NULL,
  -- Whose event chain tells about it: the run, the decision or the channel.
  resource_no INTEGER NOT NULL REFERENCES resources,
  purpose TEXT NOT NULL CHECK (purpose IN ('action','delivery','settlement','reply','notification','message','alert')),
  effect_type TEXT NOT NULL,
  -- What makes it one. effect_id is its hash, and its resource follows from it.
  idempotency_key TEXT NOT NULL,
  request TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  run_no INTEGER REFERENCES runs,
  -- Of a pass of a resource manager, instead of a run.
  managed_no INTEGER REFERENCES managed_resources,
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
-- Ids are hashes: with the resource in front, those of one run or decision stand together, and a batch of answers changes few pages.
CREATE UNIQUE INDEX effects_by_id ON effects (resource_no, effect_id);
-- Two lines per place: posts keep their order, edits go by themselves.
CREATE INDEX effects_queue ON effects (channel_id, place, purpose = 'settlement', effect_no) WHERE status = 'pending' AND channel_id IS NOT NULL;
-- Those that wait for a later time, which are few.
CREATE INDEX effects_later ON effects (channel_id, next_attempt_at) WHERE status = 'pending' AND next_attempt_at > created_at;
CREATE INDEX effects_applying ON effects (channel_id, place) WHERE status = 'applying';
CREATE INDEX effects_ambiguous ON effects (effect_no) WHERE status = 'ambiguous';
CREATE INDEX effects_decision ON effects (decision_no) WHERE decision_no IS NOT NULL;
CREATE INDEX effects_managed ON effects (managed_no) WHERE managed_no IS NOT NULL;
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
  -- The list that names it there, where it was not posted by itself. Earlier lists stay in the chat, so each offer is a row.
  list_effect_no INTEGER REFERENCES effects,
  PRIMARY KEY (decision_no, destination, offered_at)
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
  created_at INTEGER NOT NULL,
  -- Since when its person may not answer any more: it is taken back, also when it arrives only then.
  revoked_at INTEGER
) STRICT;
CREATE INDEX decision_prompts_decision ON decision_prompts (decision_no);
`;
