/** What a monitor looks at and what it expects there, as authors write it: one target and one set of expectations for each kind. */
import { z } from "zod";
import { MONITOR } from "../limits.ts";

const text = z.string().min(1).max(MONITOR.textChars);
const absolute = z.string().startsWith("/", "must be an absolute path").max(4_096);
const hostName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[^\s/@]+$/, "must be a host name or an address");
const port = z.number().int().min(1).max(65_535);

const webUrl = z
  .string()
  .max(MONITOR.urlChars)
  .superRefine((value, context) => {
    const refuse = (message: string): void => context.addIssue({ code: "custom", message });
    let url: URL;
    try {
      url = new URL(value);
    } catch {
      return refuse("must be a whole address such as https://shop.example/health");
    }
    if (url.protocol !== "http:" && url.protocol !== "https:")
      refuse(`begins with ${url.protocol}; http: and https: can be probed`);
    // It is shown in chats.
    if (url.username !== "" || url.password !== "")
      refuse("must hold no user and password: addresses are shown in chats; use headers");
  });

/** What a JSON value must be. `path`: `$.queue.length`; each field is an own property, a number indexes a list. */
const jsonExpectation = z
  .strictObject({
    path: z
      .string()
      .max(400)
      .regex(/^\$(\.[^.\s]+)+$/, 'must be a path such as "$.status" or "$.items.0.state"'),
    equals: z.union([z.string().max(MONITOR.textChars), z.number(), z.boolean(), z.null()]).optional(),
    atLeast: z.number().optional(),
    atMost: z.number().optional(),
  })
  .refine(({ equals, atLeast, atMost }) => equals !== undefined || atLeast !== undefined || atMost !== undefined, {
    message: "must have one of equals, atLeast, atMost",
  });
export type JsonExpectation = z.infer<typeof jsonExpectation>;
const json = z.array(jsonExpectation).max(MONITOR.expectations).optional();

const status = z.number().int().min(100).max(599);

const headers = z
  .record(z.string().regex(/^[A-Za-z0-9-]{1,100}$/, "must be the name of a header"), z.string().max(MONITOR.textChars))
  .refine((given) => Object.keys(given).length <= MONITOR.expectations, `at most ${MONITOR.expectations} headers`);

export const TARGETS = {
  http: z.strictObject({
    type: z.literal("http"),
    url: webUrl,
    method: z.enum(["GET", "HEAD", "POST"]).default("GET"),
    headers: headers.optional(),
    body: z.string().max(MONITOR.textChars).optional(),
  }),
  tcp: z.strictObject({ type: z.literal("tcp"), host: hostName, port }),
  "tls-expiry": z.strictObject({
    type: z.literal("tls-expiry"),
    host: hostName,
    port: port.default(443),
    /** The name that the certificate must have, where it is not the host. */
    serverName: hostName.optional(),
  }),
  command: z.strictObject({
    type: z.literal("command"),
    command: z.string().min(1).max(4_096),
    args: z.array(z.string().max(MONITOR.textChars)).max(MONITOR.argumentCount).default([]),
    cwd: absolute.default("/"),
  }),
  file: z.strictObject({ type: z.literal("file"), path: absolute }),
  heartbeat: z.strictObject({
    type: z.literal("heartbeat"),
    /** A report may be this late. */
    graceSeconds: z.number().int().min(0).max(MONITOR.graceMaxSeconds).default(60),
  }),
} as const;

export const EXPECTATIONS = {
  http: z.strictObject({
    /** Left out: 200 to 299. */
    status: z.union([status, z.array(status).min(1).max(MONITOR.expectations)]).optional(),
    /** Part of the answer's text. */
    body: text.optional(),
    /** Header → part of its value. */
    headers: headers.optional(),
    json,
  }),
  tcp: z.strictObject({
    /** Part of what the server says first. */
    greeting: text.optional(),
  }),
  "tls-expiry": z.strictObject({ daysLeft: z.number().int().min(0).max(3_650).default(14) }),
  command: z.strictObject({
    exitCode: z.number().int().min(0).max(255).default(0),
    /** Part of its standard output. */
    output: text.optional(),
    json,
  }),
  file: z.strictObject({
    exists: z.boolean().default(true),
    /** Since it was last written. */
    maxAgeSeconds: z
      .number()
      .int()
      .min(1)
      .max(MONITOR.everyMaxSeconds * 12)
      .optional(),
    minBytes: z.number().int().min(0).optional(),
    content: text.optional(),
  }),
  heartbeat: z.strictObject({}),
} as const;

export type ProbeType = keyof typeof TARGETS;

/** A target with what is expected of it: all that a probe needs. */
export type MonitorCheck = {
  [K in ProbeType]: {
    readonly target: z.infer<(typeof TARGETS)[K]>;
    readonly expect: z.infer<(typeof EXPECTATIONS)[K]>;
  } & {
    readonly type: K;
  };
}[ProbeType];

export type CheckOf<K extends ProbeType> = Extract<MonitorCheck, { type: K }>;
