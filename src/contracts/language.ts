/** Languages that people can be written to in; the words of each are one module under renderers/text. */
import { z } from "zod";

export const LANGUAGES = ["en", "de"] as const;
export const languageSchema = z.enum(LANGUAGES, {
  error: ({ input }) => `there are no words in ${JSON.stringify(input) ?? "that"} yet; known: ${LANGUAGES.join(", ")}`,
});
export type Language = z.infer<typeof languageSchema>;
