import { expect, test } from "vitest";

import { parseConfig } from "../../src/contracts/config.ts";
import { DOUBT } from "../../src/contracts/limits.ts";

const withPolicy = (onAmbiguous: unknown): unknown =>
  parseConfig(
    JSON.stringify({
      schema: "holdpoint.config.v1",
      audiences: { operators: { destinations: ["telegram:default/1"], onAmbiguous } },
      telegramProfiles: { default: { tokenFile: "/t", allowedUserIds: ["1"], allowedChatIds: ["1"] } },
    }),
    "config.json",
  ).audiences["operators"]?.onAmbiguous;

test.each([undefined, "wait", { resendAfterMs: DOUBT.resendMinMs }, { resendAfterMs: DOUBT.resendMaxMs }])(
  "what becomes of a card that was not confirmed can be %o",
  (policy) => {
    expect(withPolicy(policy)).toEqual(policy);
  },
);

test.each(["resend", { resendAfterMs: DOUBT.resendMinMs - 1 }, { resendAfterMs: DOUBT.resendMaxMs + 1 }, {}])(
  "and cannot be %o",
  (policy) => {
    expect(() => withPolicy(policy)).toThrow(/onAmbiguous/);
  },
);
