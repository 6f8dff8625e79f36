/** What the Pi adapter is told at its launch. */
import { z } from "zod";

export const piSettingsSchema = z.strictObject({
  /** Absolute path of `pi.sock`. */
  socket: z.string().startsWith("/"),
  /** Answers that come over Pi's RPC count. */
  rpcAnswers: z.boolean(),
  product: z.string(),
  installPath: z.string(),
});
export type PiSettings = z.infer<typeof piSettingsSchema>;
