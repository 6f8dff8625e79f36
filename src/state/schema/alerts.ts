/** Alerts, their episodes and messages, and the lists that stand for many of them. */
export const ALERTS = `
-- One row for each thing that an audience is told about: its audience and grouping key.
CREATE TABLE alerts (
  alert_no INTEGER PRIMARY KEY,
  alert_id TEXT NOT NULL UNIQUE,
  -- "a-9f31c2"
  short_id TEXT NOT NULL,
  resource_no INTEGER NOT NULL UNIQUE REFERENCES resources,
  audience TEXT NOT NULL,
  group_key TEXT NOT NULL,
  -- Of the state below, for searches: the condition holds or is unstable; the newest episode; when time alone changes something.
  live INTEGER NOT NULL CHECK (live IN (0, 1)),
  episode INTEGER NOT NULL,
  next_at INTEGER,
  -- The state of the rules in src/alert, as JSON.
  state TEXT NOT NULL
) STRICT;
CREATE INDEX alerts_live ON alerts (alert_no) WHERE live = 1;
CREATE INDEX alerts_due ON alerts (next_at) WHERE next_at IS NOT NULL;

-- What one opening and its end show. "revision" grows with whatever a message of it would show differently.
CREATE TABLE alert_episodes (
  alert_no INTEGER NOT NULL REFERENCES alerts,
  episode INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  severity TEXT NOT NULL CHECK (severity IN ('info','warning','critical')),
  loud INTEGER NOT NULL CHECK (loud IN (0, 1)),
  -- subject, condition, title, lines, origin, repair as they were reported last (JSON)
  facts TEXT NOT NULL,
  since INTEGER NOT NULL,
  seen INTEGER NOT NULL,
  -- While it flaps or did: the changes. 0 = it never did.
  changes INTEGER NOT NULL DEFAULT 0,
  acknowledged_at INTEGER,
  acknowledged_by TEXT,
  snoozed_until INTEGER,
  snoozed_by TEXT,
  repair_asked_at INTEGER,
  repair_asked_by TEXT,
  repair_taken_at INTEGER,
  ended_at INTEGER,
  -- The author's sentence and lines for the end (JSON).
  ending TEXT,
  PRIMARY KEY (alert_no, episode)
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_episodes_repair ON alert_episodes (alert_no) WHERE repair_asked_at IS NOT NULL AND repair_taken_at IS NULL;

-- One message in place of many alerts that begin in one chat at once.
CREATE TABLE alert_digests (
  digest_no INTEGER PRIMARY KEY,
  channel_id TEXT NOT NULL REFERENCES channels,
  destination TEXT NOT NULL,
  audience TEXT NOT NULL,
  revision INTEGER NOT NULL,
  opened_at INTEGER NOT NULL,
  joined_at INTEGER NOT NULL,
  closed_at INTEGER
) STRICT;
CREATE INDEX alert_digests_open ON alert_digests (destination) WHERE closed_at IS NULL;

CREATE TABLE alert_digest_members (
  digest_no INTEGER NOT NULL REFERENCES alert_digests,
  alert_no INTEGER NOT NULL REFERENCES alerts,
  episode INTEGER NOT NULL,
  PRIMARY KEY (digest_no, alert_no)
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_digest_members_alert ON alert_digest_members (alert_no, episode);

-- Which effect shows what: posts and edits of one episode, or of a list.
CREATE TABLE alert_messages (
  effect_no INTEGER PRIMARY KEY REFERENCES effects,
  kind TEXT NOT NULL CHECK (kind IN ('card','closing','reminder','digest','digestClosing','digestReminder','edit')),
  alert_no INTEGER REFERENCES alerts,
  episode INTEGER,
  digest_no INTEGER REFERENCES alert_digests,
  destination TEXT NOT NULL,
  -- The revision that the last attempt was given out with.
  shown INTEGER NOT NULL DEFAULT 0,
  CHECK ((alert_no IS NULL) = (episode IS NULL) AND (alert_no IS NULL) <> (digest_no IS NULL))
) STRICT;
CREATE INDEX alert_messages_episode ON alert_messages (alert_no, episode) WHERE alert_no IS NOT NULL;
CREATE INDEX alert_messages_digest ON alert_messages (digest_no) WHERE digest_no IS NOT NULL;
-- Openings of one chat, newest last: a storm is seen here.
CREATE INDEX alert_messages_openings ON alert_messages (destination, effect_no) WHERE kind = 'card';
`;
