/** Channels: their cursors, inbox and places. */
export const CHANNELS = `
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

-- What is remembered about a chat: until when the service wants it left alone, when help was last given there, since when it is known
-- that it cannot be reached, and the id that it has now (a group that became a supergroup).
CREATE TABLE channel_places (
  channel_id TEXT NOT NULL REFERENCES channels,
  place TEXT NOT NULL,
  held_until INTEGER NOT NULL DEFAULT 0,
  helped_at INTEGER,
  -- How full the chat is with alerts and notifications (src/alert/pace.ts).
  paced INTEGER NOT NULL DEFAULT 0,
  dead_at INTEGER,
  dead_error TEXT,
  moved_to TEXT,
  CHECK ((dead_at IS NULL) = (dead_error IS NULL)),
  PRIMARY KEY (channel_id, place)
) STRICT, WITHOUT ROWID;
`;
