/**
 * What one check of a monitor found: a code with values, never a sentence. Words are in renderers/text. Texts from outside (an answer,
 * a command's output) are cut before they get here.
 */
import { z } from "zod";
import { MONITOR } from "../limits.ts";

const detail = z.string().max(MONITOR.detailChars);
const none = z.strictObject;

export const findingSchema = z.discriminatedUnion("code", [
  none({ code: z.literal("ok"), detail: detail.optional() }),
  /** An HTTP status that was not expected. */
  none({ code: z.literal("status"), seen: z.number().int(), expected: detail }),
  none({ code: z.literal("redirect"), seen: z.number().int(), to: detail }),
  none({ code: z.literal("body"), expected: detail }),
  none({ code: z.literal("header"), header: detail, expected: detail, seen: detail.nullable() }),
  none({ code: z.literal("json"), path: detail, expected: detail, seen: detail.nullable() }),
  none({ code: z.literal("notJson") }),
  none({ code: z.literal("tooLarge"), bytes: z.number().int() }),
  none({
    code: z.literal("timeout"),
    seconds: z.number(),
    phase: z.enum(["lookup", "connect", "secure", "answer", "read", "run"]),
  }),
  none({ code: z.literal("lookup"), host: detail }),
  none({ code: z.literal("refused") }),
  none({ code: z.literal("unreachable"), detail }),
  none({ code: z.literal("reset") }),
  /** A certificate or a handshake that does not hold; `detail` is the name that OpenSSL gives it. */
  none({ code: z.literal("tls"), detail }),
  none({ code: z.literal("certificate"), daysLeft: z.number().int(), expected: z.number().int() }),
  none({ code: z.literal("protocol"), detail }),
  none({ code: z.literal("greeting"), expected: detail, seen: detail.nullable() }),
  none({ code: z.literal("exitCode"), seen: z.number().int(), expected: z.number().int(), detail: detail.optional() }),
  none({ code: z.literal("signal"), signal: detail }),
  none({ code: z.literal("notStarted"), detail }),
  none({ code: z.literal("output"), expected: detail }),
  none({ code: z.literal("fileMissing") }),
  none({ code: z.literal("fileThere") }),
  none({ code: z.literal("fileOld"), ageSeconds: z.number().int(), expected: z.number().int() }),
  none({ code: z.literal("fileSmall"), bytes: z.number().int(), expected: z.number().int() }),
  none({ code: z.literal("fileContent"), expected: detail }),
  none({ code: z.literal("fileUnreadable"), detail }),
  /** No report in time. `lastAt`: the last one, null when there never was one. */
  none({ code: z.literal("late"), lastAt: z.number().int().nullable() }),
  /** The job itself said that it failed. */
  none({ code: z.literal("reportedFailure"), detail: detail.optional() }),
  /** We could not look; says nothing about the target. */
  none({ code: z.literal("notProbed"), detail }),
]);
export type Finding = z.infer<typeof findingSchema>;

/** A result: `ok` as the monitor's expectations say. */
export const probeResultSchema = z.strictObject({
  ok: z.boolean(),
  finding: findingSchema,
  durationMs: z.number().nonnegative(),
});
export type ProbeResult = z.infer<typeof probeResultSchema>;
