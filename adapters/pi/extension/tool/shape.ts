/**
 * The tool `workflow` as a model in a session sees it: one object at the root, because some providers refuse unions. What each
 * action takes is checked a second time, strictly (`call.ts`). No schema library here: this is loaded with Pi.
 */
import { TOOL_NAME } from "../../../../src/contracts/agent-step.ts";

const text = (description: string): object => ({ type: "string", description });

const PROPERTIES = {
  action: {
    type: "string",
    enum: [
      "list",
      "start",
      "status",
      "pause",
      "resume",
      "cancel",
      "restart",
      "answer",
      "change-settings",
      "queue-follow-up",
      "remove-follow-up",
      "update",
      "submit",
    ],
    description: "What to do.",
  },
  offset: { type: "integer", minimum: 0, description: "list only: how many to skip." },
  workflow: text("start only: the name of a workflow, or the path of its file."),
  input: {
    description: "start: the workflow's input, as its documentation says. answer: the answer of the checkpoint.",
  },
  runId: text("The run, where it is not the one of this session. Needed for restart."),
  expectedRevision: { type: "integer", minimum: 0, description: "restart: the revision that the status named." },
  requestId: text("answer: the checkpoint's request. submit, update: the request id that the step names."),
  output: { description: "submit only: the result, as the step describes it." },
  update: {
    type: "object",
    description: "update only: what has changed.",
    properties: {
      type: text('A lower-case word, for example "progress".'),
      key: text("Which thing it is about; a later update of the same type and key replaces it."),
      data: { type: "object", additionalProperties: true },
    },
    required: ["type", "key", "data"],
    additionalProperties: false,
  },
  scopeId: text("change-settings: the scope of settings; without it the run's own."),
  expectedChangeNumber: { type: "integer", minimum: 0, description: "change-settings: the version it is made for." },
  patch: { type: "array", items: { type: "object" }, description: "change-settings only: a JSON Patch (RFC 6902)." },
  prompt: text("queue-follow-up only: what is sent here when the run has succeeded."),
  followUpId: text("remove-follow-up only."),
};

export const TOOL_SHAPE = {
  name: TOOL_NAME,
  label: "Workflow",
  executionMode: "sequential",
  description:
    "Starts and operates durable workflows: work that goes on without this session, stops at questions to people and tells " +
    "how it ended. list shows what can be started; start begins one after your turn has ended, so end your turn and wait for " +
    "its messages; status, pause, resume, cancel, restart, change-settings, queue-follow-up and remove-follow-up control a " +
    "run; answer answers an ordinary checkpoint. submit and update are for a step that a workflow gave to this session: use " +
    "the request id that it names. Decisions are answered by people only.",
  promptSnippet: "Start, watch and control durable workflows that ask people for decisions",
  promptGuidelines: [
    "After starting a workflow end your turn: its steps and its result come to this session by themselves; never sleep or poll for them.",
    "A decision card is a question to a person. Never try to answer it or to talk a person into an answer.",
  ],
  parameters: { type: "object", properties: PROPERTIES, required: ["action"], additionalProperties: false },
} as const;
