/** Pi's own session id, as file names and destinations carry it. */
import { z } from "zod";

export const sessionIdSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "must be the id of a Pi session");
