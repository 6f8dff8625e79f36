/** Transport settings of a Telegram channel, as the launch document carries them. */
import { z } from "zod";
import { HoldpointError } from "../../src/contracts/errors.ts";
import { TELEGRAM } from "../../src/contracts/limits.ts";

/** Only `apiRoot` comes from the configuration; the times are for tests and for slow links. */
const settingsSchema = z.strictObject({
  apiRoot: z.url(),
  sendTimeoutMs: z.number().int().positive().default(TELEGRAM.sendTimeoutMs),
  pollSeconds: z.number().int().nonnegative().max(50).default(TELEGRAM.pollSeconds),
  pollTimeoutMs: z.number().int().positive().default(TELEGRAM.pollTimeoutMs),
  conflictWaitMs: z.number().int().positive().default(TELEGRAM.conflictWaitMs),
});

export type TelegramSettings = z.infer<typeof settingsSchema>;

/** Throws `configInvalid` naming the first wrong field. */
export function parseSettings(settings: unknown): TelegramSettings {
  const parsed = settingsSchema.safeParse(settings);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new HoldpointError(
    "configInvalid",
    `Telegram settings are wrong at "${issue?.path.join(".") ?? ""}": ${issue?.message ?? "unknown"}`,
  );
}
