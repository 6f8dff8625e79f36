/**
 * Every number that bounds something, with its reason. Bad input names the limit and the value it saw.
 * Sizes are UTF-16 units unless the name says bytes; times are milliseconds.
 */

/** Pipes and sockets. */
export const WIRE = {
  /** One NDJSON frame: large enough for 64 steps, small enough to parse without a pause. */
  frameBytes: 1_048_576,
  /** Ids in envelopes. */
  idBytes: 256,
  /** A Unix socket path must fit sun_path (108 bytes with its NUL on Linux). */
  socketPathBytes: 107,
  /** How often the server looks whether its socket file is still there. */
  socketLookMs: 5_000,
  /** A child ends this long after its pipe closed. */
  childExitMs: 500,
} as const;

/** Values that travel and are stored. */
export const VALUE = {
  /** A node output, an input or an answer in one frame, with room for the envelope around it. */
  outputBytes: 900_000,
  /** Canonical JSON above this goes to the blobs table instead of the row. */
  inlineBytes: 4_096,
  /** An error text that is stored. */
  errorChars: 8_192,
  /** Levels of canonical JSON: far above any honest value, far below the end of the stack. */
  canonicalDepth: 256,
} as const;

/** Values too large for a frame: they travel in parts and are named by their digest. */
export const CONTENT = {
  /** One value: 5 MB and room for its escapes. Its JSON is parsed in one piece, in about 30 ms. */
  valueBytes: 6_291_456,
  /** One part before base64; with it and the envelope it fits a frame. */
  partBytes: 524_288,
  /** A stored result above this is handed to a runner by reference, so that resuming does not depend on the size of results. */
  inlineBytes: 131_072,
  /** A value in a view for people; larger ones are named with their size. */
  viewBytes: 65_536,
} as const;

/** The runner's stream of steps. */
export const ADVANCE = {
  /** Entries per frame: one command, one savepoint. */
  entriesPerFrame: 64,
  /** Full frames in one write of the runner, and so in one commit: while the server stores two, the runner fills two more of the window. */
  framesPerWrite: 2,
  /** Not yet acknowledged: bounds what a crash can cost and what memory holds. */
  unackedSteps: 256,
  unackedBytes: 1_048_576,
} as const;

/** Workflow authoring. */
export const WORKFLOW = {
  maxSteps: 100,
  nodeTimeoutMs: 15 * 60_000,
  /** Functions that only describe (titles) may not take longer. */
  titleMs: 30_000,
  titleChars: 200,
  nodes: 2_000,
  /** A source file that is stored with the run. */
  sourceFileBytes: 4_194_304,
  sourceFiles: 500,
} as const;

/** The write queue of the store. */
export const QUEUE = {
  batchCommands: 256,
  batchMs: 10,
} as const;

/** Read pages for views. */
export const PAGE = {
  rows: 256,
  bytes: 65_536,
} as const;

/** Human decisions (CONTRACTS 5.3). */
export const DECISION = {
  presentationUnits: 64_000,
  blocks: 256,
  itemsPerBlock: 256,
  stringUnits: 16_000,
  titleUnits: 200,
  labelUnits: 64,
  promptUnits: 400,
  /** Persons that a policy may ask for; far above any real committee. */
  quorum: 100,
  /** Buttons on one card: Telegram documents no limit, phones show few. */
  choices: 8,
  transportParts: 20,
  /** A card that needs more messages is one message and a document, where the channel takes files. */
  messageParts: 5,
  /** Of its text on that message: what a phone shows with two flicks. */
  excerptUnits: 1_000,
  textDefaultMin: 1,
  textDefaultMax: 4_000,
  /** After a start or wake, overdue policies wait this long for the channels' backlog. */
  graceMs: 30_000,
  /** A tap's acknowledgement waits this long for the verdict. */
  acknowledgeMs: 1_500,
  tokenBytes: 16,
  /** The end of the run's story on a card: fits the room that the splitter keeps free, with the verdict beside it. */
  storyUnits: 160,
} as const;

/** Telegram (reference: Bot API documentation and the official server's source). */
export const TELEGRAM = {
  messageUnits: 4_096,
  /** Kept free in the first and last part for status, verdict and the end of the story. */
  reservedUnits: 400,
  /** The status line that begins every part: title cut to fit, part number, fingerprint. */
  statusUnits: 160,
  /** Deadline, votes, who is asked, notes and origin under the last part; constant, so that the split of a card never depends on them. */
  footerUnits: 1_420,
  /** A button's label; phones show about this much of it. The full label stands in the card. */
  buttonUnits: 32,
  callbackDataBytes: 64,
  toastChars: 200,
  /** Above the server's own silent flood wait of 8 s, so that a timeout is rare. */
  sendTimeoutMs: 30_000,
  pollSeconds: 25,
  /** The hang guard of a poll: hold time plus a margin. */
  pollTimeoutMs: 45_000,
  /** After 409 wait longer than the other poll can be held (50 s). */
  conflictWaitMs: 55_000,
  updatesPerPoll: 100,
  /** An idle connection is closed after this time, before the service closes it under a request. */
  idleSocketMs: 4_000,
  /** One answer of the service: 100 updates with their replies and room to spare. */
  responseBytes: 16_777_216,
  /** Placeholder of a reply prompt. */
  placeholderChars: 64,
} as const;

/** The loop of an adapter child. */
export const ADAPTER = {
  /** A token file: a token is about 50 characters. */
  secretBytes: 4_096,
  /** After a refused token or a wrong token file, the file is read again at this pace (CONTRACTS 0.17). */
  secretAgainMs: 60_000,
  /** Without a frame for this long it is asked for a sign of life; with that it is noticed within two minutes. */
  silentMs: 75_000,
  /** A busy machine answers late; an adapter answers between two calls, whatever it waits for. */
  signOfLifeMs: 15_000,
  /** Pauses after a failed poll or connection. */
  backoffMinMs: 1_000,
  backoffMaxMs: 30_000,
} as const;

/** What an audience's policy may ask for. */
export const POLICY = {
  /** The longest time before a reminder or an escalation: whoever waits longer wants a deadline. */
  waitMinutes: 7 * 24 * 60,
  /** Reminders of one decision: more of them would be noise that people mute. */
  reminders: 20,
  remindersDefault: 3,
  /** Room for the votes, and for the names in a reminder or an escalation, in one line of a card. */
  votesUnits: 280,
  namesUnits: 120,
} as const;

/** `holdpoint setup` and `holdpoint doctor`. */
export const SETUP = {
  /** 31^8 codes: nobody guesses one in the minutes that it lives, however fast Telegram takes messages. */
  codeChars: 8,
  /** How long a code lives: time to find the phone, open the bot and type. */
  pairMs: 900_000,
  /** Between two looks when the service cannot be reached or keeps handing out what is to stay with it. */
  againMs: 1_000,
  /** Attempts that do not pair are told up to this number, so that a stranger cannot fill the terminal. */
  noticesShown: 10,
  /** Answer of the set-up or doctor part to anything but waiting for the code: a send timeout and room. */
  answerMs: 45_000,
  /** How far this clock may be from the service's, which is told by the second. More would show on cards. */
  clockSkewMs: 5_000,
  /** How long the doctor's poll is held: another program that was ended by it comes back within seconds. */
  pollerSeconds: 5,
  /** Less free space than this soon stops the database: a day of a busy service, and below it the next hours. */
  diskNoteBytes: 1_073_741_824,
  diskWrongBytes: 104_857_600,
  /** A quick check reads the whole file. */
  databaseCheckMs: 120_000,
} as const;

/** Attempts of messages. */
export const DELIVERY = {
  backoffMinMs: 1_000,
  backoffMaxMs: 300_000,
  /** Help for stray text at most this often in one chat, so that a lively group is not answered line by line. */
  helpEveryMs: 60_000,
  /** A chat that cannot be reached is tried with a new card after a day: it may have been opened again without a word to us. */
  deadAgainMs: 86_400_000,
} as const;

/** Messages whose arrival is not known. */
export const DOUBT = {
  /** A call that hangs ends after 30 s; sooner, a copy would overtake news that is still under way. */
  resendMinMs: 30_000,
  resendMaxMs: 7 * 86_400_000,
  /** Copies that a policy sends of one message: a service that confirms nothing must not fill a chat. */
  resends: 3,
  /** Somebody is asked elsewhere after this time: a tap is the better evidence, and often comes first. */
  askAfterMs: 30_000,
  /** Doubts that have ended count in the figures for this long. */
  figuresMs: 30 * 86_400_000,
} as const;

/** Cards that are offered again after a silence of the channel. */
export const OFFER = {
  /** Telegram keeps a tap for 150 s; what was tapped before that is lost. */
  silenceMs: 150_000,
  /** One card at most this often, however often the service is away. */
  everyMs: 12 * 3_600_000,
  /** Cards of one chat that are posted anew; with more of them, one message lists all. */
  anew: 5,
  /** Buttons of that message: it must fit a phone, and 4,096 units with all titles. */
  listed: 30,
  /** How exactly the last good poll is kept on disk: one write for several polls. */
  polledEveryMs: 5_000,
} as const;

/** The operator chat. */
export const OPERATOR = {
  /** Items of a list in one message: about what a phone shows without scrolling far, and each may have a row of buttons. */
  pageItems: 6,
  /** Ended runs that a list of runs adds when there is room. */
  endedRuns: 3,
  /** Runs that a command without a run names. */
  candidates: 8,
  /** Of a title in a list. */
  titleUnits: 80,
  /** Problems of a kind that one command looks at, the oldest first; what is beyond them is said to be there. */
  problems: 500,
} as const;

/** When a channel counts as deaf: together with the hang guard of a poll (45 s) it is noticed within two minutes. */
export const DEAF = {
  /** Since the first failed poll after a good one. A restart of a router or of the service is over before. */
  afterMs: 60_000,
  /** One 409 is left over from a poll of our own before a crash; this many within `conflictQuietMs` are somebody else. */
  conflicts: 2,
  /** Who fights for the updates has given up when nothing was heard of it for this long. */
  conflictQuietMs: 120_000,
  /** A look this much too late means that the machine slept: the time before it proves nothing. */
  sleptMs: 15_000,
  /** Again, when what was noticed could not be stored. */
  againMs: 5_000,
} as const;

/** What channels hand over. */
export const CHANNEL = {
  /** Telegram numbers updates anew after a week without one: silence of this length begins a new channel epoch. */
  epochSilenceMs: 6 * 86_400_000,
  /** An update id this far below the cursor is a restart of ids; a smaller step back is a late update. */
  epochStepBack: 1_000,
} as const;

/** Leases and supervision. */
export const LEASE = {
  claimMs: 30_000,
  renewMs: 10_000,
  serverMs: 30_000,
} as const;

export const PROCESS = {
  readyMs: 15_000,
  killGraceMs: 2_000,
  /** What was killed is gone at once; what is not is killed again, and told. */
  killAgainMs: 5_000,
  stopGraceMs: 5_000,
  /** A runner that is silent beyond its step's time limit is asked for a sign of life, and has this long: a busy machine answers late. */
  signOfLifeMs: 10_000,
  restartMinMs: 1_000,
  restartMaxMs: 60_000,
  /** A child's captured stderr. */
  diagnosticBytes: 65_536,
} as const;

/** Runners that serve several launches. */
export const WARM = {
  /** One that has nothing to do is kept this long. */
  idleMs: 60_000,
  /** What user code leaks must not grow without end. */
  launches: 1_000,
} as const;

/** The server's own life. */
export const SERVER = {
  /** Started on demand and with nothing to do for this long, it leaves. */
  idleExitMs: 600_000,
  idleLookMs: 60_000,
} as const;

/** Slots. */
export const LANES = {
  runsMin: 4,
  runsMax: 32,
  runsPerCore: 2,
  control: 2,
} as const;

/** Timers only wake; a longer sleep is cut so that a clock step is noticed. */
export const TIMER = { maxSleepMs: 60_000 } as const;

/** Retention of rows that only serve deduplication. */
export const RETENTION = { inboxMs: 30 * 86_400_000, runsMs: 30 * 86_400_000 } as const;

/** Clients. */
export const CLIENT = {
  connectMs: 2_000,
  startMs: 10_000,
  /** Views of a watched run are recomputed at most this often. */
  viewMs: 250,
  /** How often a started server's socket is tried. */
  startPollMs: 50,
  /** A hang guard: no operation works this long before it answers. */
  callMs: 30_000,
  /** Reconnecting of a watch: full jitter between these, given up after so many attempts in a row. */
  backoffMinMs: 250,
  backoffMaxMs: 10_000,
  reconnects: 12,
} as const;

/** The demo. */
export const DEMO = {
  /** Without a terminal it ends by itself within a minute, with a margin for tidying up. */
  totalMs: 55_000,
  /** The service reacts to a tap or reply far sooner. */
  reactionMs: 15_000,
  /** A person is asked again when an act was heard and nothing follows from it. */
  patienceMs: 2_000,
  /** A child that was told to end and does not is killed. */
  endMs: 6_000,
} as const;

/** Agent steps (CONTRACTS 1.7) and the Pi that executes them. */
export const AGENT = {
  /** One prompt, contract included: above this a model loses what it was asked. */
  promptChars: 96_000,
  expectedOutputChars: 8_000,
  /** One text of evidence in a prompt; longer ones become references. */
  evidenceChars: 4_000,
  evidenceItems: 64,
  evidenceFields: 200,
  evidenceDepth: 8,
  /** Reminders after turns that ended without a submission; the next one fails the attempt. */
  reminders: 2,
  /** Places in a text that are tried as the beginning of JSON. */
  jsonCandidates: 64,
  /** Visible text as output: as long as a value may be, with three bytes for each character. */
  messageChars: 250_000,
  messageDefaultChars: 64_000,
  /** Functions that only describe a step (its time limit, its status) may not take longer. */
  describeMs: 30_000,
  statusDetailChars: 200,
  tools: 256,
  toolNameChars: 128,
  /** Refused submissions of one attempt: a model that never fits the contract must not spend money without end. */
  refusals: 20,
  /** From the start of Pi until its bridge is there: 0.5 s when measured, 1.4 s with cold files. */
  readyMs: 15_000,
  /** After a submission was accepted, Pi may write down its turn. */
  settleMs: 1_000,
  /** A turn that was told to abort may tidy up. */
  abortGraceMs: 3_000,
  /** What is killed is gone; if not, the kernel holds it. */
  goneMs: 10_000,
  /** One record of Pi's: the end of a turn repeats its whole conversation. */
  recordBytes: 67_108_864,
  /** The end of Pi's diagnostics in an error message. */
  diagnosticChars: 2_000,
  /** `pi --version`: 0.4 s when measured. */
  checkMs: 15_000,
} as const;

/** Commands that actions and shell nodes run (CONTRACTS 1.4). */
export const SHELL = {
  outputChars: 1_000_000,
  /** One line that an update parser sees; longer ones are cut there. */
  lineBytes: 65_536,
  /** From TERM to KILL. */
  killGraceMs: 1_000,
  /** After an abort, until the group is gone. */
  abortGraceMs: 2_000,
  args: 1_024,
  argChars: 131_072,
} as const;

/** `runCommandBatch` (CONTRACTS 1.4). */
export const BATCH = {
  items: 64,
  concurrency: 8,
  totalMs: 60 * 60_000,
  outputChars: 1_000_000,
  errorChars: 2_000,
} as const;

/** Updates of a running node (CONTRACTS 1.8). */
export const UPDATE = {
  dataBytes: 65_536,
  /** Current items of a run, one for each type and key. */
  currentItems: 1_024,
  perSecond: 20,
  burst: 100,
} as const;

/** Progress and its estimate (CONTRACTS 1.8). */
export const PROGRESS = {
  labelChars: 200,
  phaseChars: 128,
  unitChars: 32,
  /** Intervals that an estimate looks back on. */
  intervals: 8,
  /** A source's own estimate counts for this long after it was made. */
  sourceFreshMs: 15 * 60_000,
} as const;

/** Progress that a job elsewhere leaves in an object store (CONTRACTS 1.8). */
export const JOB_PROGRESS = {
  /** Not written more often: every write is paid for, and nobody looks that often. */
  everyMs: 30_000,
  /** One write; a job must not wait for its reporter. */
  writeMs: 15_000,
  snapshotBytes: 65_536,
} as const;

/** Settings of a running workflow (CONTRACTS 1.9). */
export const SETTINGS = {
  operations: 256,
  patchBytes: 65_536,
  pointerBytes: 1_024,
  valueBytes: 262_144,
  rules: 256,
  descriptionChars: 2_000,
  /** A change is judged again when another one came between; after this many times its author is told. */
  judgeAgain: 3,
} as const;

/** Processes that load approved files to judge a change of settings, or only whether they load. */
export const JUDGE = {
  /** Loading the workflow and its `parse` and `validateChange`; a person waits for it. */
  timeMs: 10_000,
  /** What the largest workflows load, and nothing that disturbs the runs beside it. */
  heapMb: 256,
} as const;

/** Approved files of runs that wait. */
export const SOURCES = {
  /** Whether they are there is not looked at more often than this, however often people list. */
  lookAgainMs: 60_000,
} as const;

/** Prompts that are sent after a run succeeded (CONTRACTS 1.10). */
export const FOLLOW_UP = {
  promptChars: 96_000,
  /** Unsent ones of one run: far above any honest plan. */
  perRun: 64,
} as const;

/** Composition. */
export const INCLUDE = {
  /** Mounts inside mounts. */
  depth: 16,
  /** A compiled node id: mounts and node joined with slashes. */
  pathChars: 1_000,
} as const;

/** Notifications of a run. */
export const NOTIFY = {
  messageChars: 16_000,
  /** With a key: its text is one message, which later ones edit. */
  keyedChars: 3_000,
} as const;

/** Sleeps of a run. */
export const SLEEP = {
  /** Longer than a leap year is a schedule, not a wait. */
  maxMs: 366 * 86_400_000,
} as const;

/** Restarts. */
export const RESTART = {
  /** Restarts of restarts: what fails this often needs another input or another workflow. */
  chain: 16,
} as const;

/** Answers by an operator. */
export const ANSWER = {
  /** So long after an answer, the next question of the same run takes only answers that name it, not its run. */
  nextByRunMs: 30_000,
} as const;

/* ------------------------------------------------------------------ Pi ---- */

/** What is shown of a run in its session. */
export const SESSION = {
  /** Of a run's result in its last message, which the model reads. */
  resultChars: 4_000,
  /** An ended run stays in the view this long after the turn of its last message. */
  terminalMs: 60_000,
  /** Decisions that ended, in the view. */
  decisionsShown: 8,
  /** Nodes in the view, around the current one. */
  nodesShown: 24,
  /** After the start of a server: how long runs that were reserved in a turn wait for their session. */
  reservedMs: 30_000,
  /** A card must have stood in the session this long before an answer that names no decision is taken for it. */
  bareShownMs: 2_000,
  /** And no other decision of the run may have ended this short before. */
  bareQuietMs: 30_000,
  /** A message that waits for its session is tried again by itself after this long; the session's return tries it at once. */
  awayMs: 300_000,
} as const;

/** Between the extension in a Pi session and the Pi adapter. */
export const PI_LINK = {
  /** A card or prompt as plain text: the largest presentation with its labels, or the largest prompt. */
  contentChars: 200_000,
  /** Hidden ids in one report of a branch; a session with more sends the newest. */
  seen: 2_048,
  /** A person's text, or an agent's last message: above AGENT.messageChars, so that one over it is refused as too long. */
  textChars: 260_000,
  /** Records of a session in one frame. */
  captureRecords: 256,
  /** The extension says within this time what became of a delivery; later it counts as not sent, and is looked for before it is sent again. */
  deliverMs: 10_000,
  /** The extension answers so long before that, also when it must say that nothing appeared. */
  deliverMarginMs: 1_000,
  /** From connecting to hello. */
  helloMs: 5_000,
  /** An extension that does not read so much is disconnected; it comes back and gets a whole view. */
  backlogBytes: 8_388_608,
} as const;

/** What is recorded of a session while its run is under way. */
export const PI_CAPTURE = {
  /** Entries before its own that an instance names, so that those are counted which the one before it could not send any more. */
  before: 256,
  /** The extension sends what it has this long after the first of it, one frame at a time. */
  flushMs: 25,
  /** Of the records of one frame; a frame has room for the largest record besides. */
  frameBytes: 262_144,
  /** What waits in the extension; more is counted and left out. */
  queueRecords: 8_192,
  queueBytes: 16_777_216,
  /** A larger record says only how large it was. */
  recordBytes: 262_144,
  /** Kept of one run, all its instances together. */
  runRecords: 50_000,
  runBytes: 33_554_432,
  instances: 256,
  /** Of one page for a reader. */
  pageRecords: 256,
  pageBytes: 393_216,
} as const;

/** The extension's way to the server. */
export const PI_CONNECT = {
  /** Pi takes up a text that was sent within this time, or never. */
  typedMs: 5_000,
  /** How often a session is looked at besides its events. */
  lookMs: 1_000,
  /** A start waits so long for the link of its session: a server and its adapter are started in 2 s. */
  liveMs: 20_000,
  /** A frame that so many connections were lost over is not sent again. */
  losses: 5,
  /** After the start of a session, before client and schemas are loaded. */
  loadAfterMs: 50,
  /** A turn that was stopped is told of so much later: one that is stopped because the session ends is over by then. */
  leavingMs: 300,
  /** One look whether a Node can open a database: 0.1 s when measured. */
  nodeCheckMs: 10_000,
  /** Waits between attempts, with jitter between half and whole. */
  backoffMinMs: 1_000,
  backoffMaxMs: 10_000,
} as const;

/** What the extension shows and takes inside Pi. */
export const PI_WIDGET = {
  /** Pi shows no more lines of a widget. */
  lines: 10,
  /** Rows of nodes at once, and how many of them stand after the current one. */
  nodes: 6,
  lead: 2,
  /** Lines of progress at once. */
  progress: 2,
  /** Rows of one press of a key. */
  scroll: 3,
  /** Elapsed times and countdowns are drawn again at this pace. */
  tickMs: 1_000,
} as const;

/** Messages of ours in a session. */
export const PI_CARD = {
  /** Lines of a folded card: its title, and the verdict, story and origin at its end. */
  foldedLines: 5,
  /** Of a result or an error that is not expanded. */
  beginningLines: 3,
} as const;

/** The model's tool and the commands inside Pi. */
export const PI_TOOL = {
  /** One page of `list`. */
  listItems: 50,
  listChars: 3_500,
  /** Errors and other texts that go to the model. */
  errorChars: 4_000,
  textChars: 50_000,
  /** A submission waits so long for a connection that was lost, then says so. */
  connectionMs: 30_000,
} as const;

/** A bare `/workflow answer`, which names no decision (CONTRACTS 0.13). */
export const PI_ANSWER = {
  /** An answer waits so long for a link that was lost. */
  linkMs: 5_000,
  /** And so long for the view that tells of its card: views come every 250 ms. */
  viewMs: 2_000,
  /** The only card must have been there for so long. */
  shownMs: 2_000,
  /** After another decision of the run was settled. */
  afterSettledMs: 30_000,
} as const;

/** Monitors (docs/monitors.md). */
export const MONITOR = {
  /** Between two checks. Shorter ones are a load test; a check once in four weeks is the rarest that people still understand. */
  everyMinSeconds: 5,
  everyMaxSeconds: 28 * 86_400,
  /** Checks in a row that must fail, or succeed, before it counts. */
  confirmations: 100,
  /** Without its own numbers: a network blinks, a file does not. */
  failAfterNetwork: 3,
  recoverAfterNetwork: 2,
  /** One check, from the connection to the last byte. */
  timeoutSeconds: 10,
  timeoutMaxSeconds: 60,
  commandTimeoutMaxSeconds: 900,
  /** Of an answer that is looked at; what is longer is read on to its end, up to the second number, and not kept. */
  bodyBytes: 262_144,
  answerBytes: 16_777_216,
  /** Of a file whose content is looked at. */
  fileBytes: 1_048_576,
  commandOutputChars: 65_536,
  expectations: 16,
  textChars: 1_000,
  urlChars: 2_000,
  /** With the prefix of its alert it is a key of at most ALERT.keyUnits. */
  nameChars: 192,
  titleChars: 120,
  runbookChars: 500,
  argumentCount: 64,
  /** Of what a probe found, in a text for people. */
  detailChars: 200,
  /** Results that flap detection looks back on, and how often the result must have changed in them. */
  flapChecks: 20,
  flapChanges: 8,
  /** Equal results in a row after which an unstable target counts as stable. */
  calmChecks: 10,
  windows: 16,
  windowMaxMinutes: 7 * 24 * 60,
  graceMaxSeconds: 7 * 86_400,
  remindMaxMinutes: 7 * 24 * 60,
  /** One home; far more than one machine watches, and each costs about two kilobytes. */
  monitors: 5_000,
  /** Events that `monitors show` tells. */
  shownEvents: 20,
} as const;

/** The child that probes. */
export const PROBES = {
  /** At a time; each is a socket and little else. */
  network: 64,
  /** Each is a process. */
  commands: 4,
  /** Files being looked at; each has a thread of the probing child, which a dead disk does not give back. */
  files: 24,
  /** Results in one command of the store. */
  batch: 128,
  /** Beyond a probe's own time-out the child has this long; then it is replaced. */
  hangMs: 5_000,
  /** A look this much too late means that the server was not running or asleep: what did not report meanwhile may have tried. */
  sleptMs: 15_000,
} as const;

/** Sources: what wakes resource managers and reports to monitors. */
export const SOURCE = {
  bodyBytes: 65_536,
  headerBytes: 16_384,
  /** From the first byte of a request to its last. */
  requestMs: 10_000,
  /** Between two looks for requests that took longer. */
  lookMs: 1_000,
  connections: 64,
  /** Of one source; the same limit holds for all requests that name no source, taken together. */
  perMinute: 120,
  /** How far a signed time may be from ours; ids are remembered for longer than that. */
  clockSkewMs: 300_000,
  rememberMs: 30 * 86_400_000,
  idChars: 200,
  keyChars: 512,
  /** A watched folder that changes all the time wakes its resource once in this time. */
  settleMs: 500,
  sources: 200,
  /** Missed occurrences of a schedule that are counted one by one; beyond it is "more than". */
  missedCounted: 10_000,
} as const;

/** Alerts in chat. */
export const ALERT = {
  keyUnits: 200,
  subjectUnits: 120,
  titleUnits: 200,
  /** Lines of evidence, and units of all: together with the words around them one message. */
  lines: 100,
  linesUnits: 3_200,
  /** What a line counts that is worded when it is shown: a finding with its detail, a runbook, a repair. */
  wordedUnits: 300,
  /** Changes within the window that make an alert unstable: it came, went, and came again. */
  flapChanges: 3,
  flapWindowMs: 10 * 60_000,
  /** So long without a change, and it is stable again. */
  stableMs: 10 * 60_000,
  /** Alerts that begin in one chat within the window before the next becomes a list of all. */
  stormSize: 5,
  stormWindowMs: 60_000,
  /** A list takes further alerts until none has joined for this long. */
  stormQuietMs: 5 * 60_000,
  /** Alerts in one list: each still has a readable line of the one message. */
  digestMembers: 100,
  /** Between two edits of a list that only tell who joined or left. */
  digestEditMs: 10_000,
  /** Between two reminders of a list, whose members may want one each. */
  digestRemindMs: 10 * 60_000,
  /** What only tells that it lasts is edited at most this often, and more rarely the longer it lasts. */
  progressMinMs: 60_000,
  progressMaxMs: 6 * 3_600_000,
  snoozeMs: 3_600_000,
  snoozeMaxMs: 7 * 86_400_000,
  /** Reminders of one episode that an input may ask for are bounded by POLICY.reminders. */
  dueAtOnce: 64,
} as const;

/**
 * How fast alerts and notifications go to one chat. Telegram wants about one message a second in a chat, and at most 20 a minute in a
 * group: five at once and one every four seconds stay below that in every minute.
 */
export const PACE = {
  chat: { everyMs: 1_000, atOnce: 3 },
  group: { everyMs: 4_000, atOnce: 5 },
} as const;

/** Resource managers (CONTRACTS 8). */
export const RESOURCE = {
  /** Spec and status, as canonical JSON: 1 MiB less the envelope of the frame that carries one of them. */
  valueBytes: 1_000_000,
  keyChars: 512,
  nameChars: 64,
  conditions: 64,
  /** A condition's type and reason. */
  wordChars: 128,
  messageChars: 4_000,
  /** Why a manager cancels a child run. */
  reasonChars: 1_000,
  finalizers: 16,
  /** What an effect is asked to do. */
  requestBytes: 65_536,
  /** The payload of an event of a resource, and what a source may bring with it. */
  eventBytes: 65_536,
  effectKeyChars: 512,
  /** Reconciles at a time. */
  lane: 8,
  /** One pass; its runner is ended when it does not return by then. */
  reconcileMs: 60_000,
  /** After its signal was aborted a pass has this long to return. */
  abortGraceMs: 2_000,
  /** Longer than a pass with its end, so that no live pass loses its claim by time. */
  leaseMs: 120_000,
  leaseMinMs: 300,
  renewMs: 30_000,
  /** `requeueAfter`: longer sleeps want a schedule. */
  requeueMaxMs: 366 * 86_400_000,
  backoffMinMs: 1_000,
  backoffMaxMs: 60_000,
  /** So that what failed together does not come again together. */
  backoffJitter: 0.2,
  /** Discovering, loading and `initialStatus`; a person waits for it. */
  resolveMs: 30_000,
} as const;
