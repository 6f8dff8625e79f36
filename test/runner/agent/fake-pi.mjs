// A program that speaks as Pi does in RPC mode, and misbehaves as its first argument says. Real Pi is in test/pi.
import { readFileSync } from "node:fs";
import { Socket } from "node:net";

const how = process.argv[2];
const say = (record) => process.stdout.write(`${JSON.stringify(record)}\n`);
const pipe = new Socket({ fd: 3, readable: true, writable: true });
const bridge = (frame) => pipe.write(`${JSON.stringify(frame)}\n`);

if (how === "dies") {
  process.stderr.write("Error: the configuration of this Pi is broken\n");
  process.exit(3);
}
if (how === "deaf") {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1_000);
} else process.stdin.on("end", () => process.exit(0));

const lines = (stream, each) => {
  let rest = "";
  stream.on("data", (chunk) => {
    rest += String(chunk);
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n")) {
      each(JSON.parse(rest.slice(0, end)));
      rest = rest.slice(end + 1);
    }
  });
};

const settle = (text, stopReason = "stop") => {
  say({ type: "message_end", message: { role: "assistant", content: [{ type: "text", text }], stopReason } });
  say({ type: "agent_settled", aborted: false });
};

lines(process.stdin, (record) => {
  if (record.type === "extension_ui_response")
    return settle(`the dialog was ${record.cancelled ? "cancelled" : "answered"}`);
  if (record.type !== "prompt") return say({ id: record.id, type: "response", command: record.type, success: true });
  const disposition = how === "handles" ? "handled" : "started";
  say({ id: record.id, type: "response", command: "prompt", success: true, data: { disposition } });
  if (how === "babbles") process.stdout.write("Welcome!\n");
  if (how === "asks") say({ type: "extension_ui_request", id: "d1", method: "confirm", title: "Sure?" });
  if (how === "wrong-frame") bridge({ type: "call", callId: "1", call: { action: "cancel", requestId: "q-1" } });
  if (how === "mute") settle("");
  if (how === "tells-folder") settle(process.cwd());
  if (how === "separators") settle("a\u2028b\u2029c");
  if (how === "submits") submit(/requestId "([^"]+)"/.exec(record.message)[1]);
});

// Reports, then submits, as a model does with the tool; its turn ends with the result.
const submit = (requestId) => {
  const update = {
    type: "progress",
    key: "plan",
    data: { schema: "holdpoint.progress.v1", label: "Planning", status: "running" },
  };
  bridge({ type: "call", callId: "report", call: { action: "update", requestId, update } });
  // A test of everything around Pi may say what the model finds.
  const file = process.env["HP_FAKE_PI_OUTPUT"];
  const output = file === undefined ? { plan: "do it" } : JSON.parse(readFileSync(file, "utf8"));
  bridge({ type: "call", callId: "result", call: { action: "submit", requestId, output } });
};
lines(pipe, ({ callId }) => {
  if (callId === "result") settle("Done.");
});
// The bridge dies with the runner.
pipe.on("close", () => process.exit(0));
pipe.on("error", () => process.exit(0));
bridge({ type: "ready", protocol: 1, pid: process.pid });
