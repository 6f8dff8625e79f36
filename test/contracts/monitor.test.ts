import { describe, expect, test } from "vitest";
import { isHoldpointError } from "../../src/contracts/errors.ts";
import { monitorTitle, parseMonitorSpec, readMonitorSpec, targetText } from "../../src/contracts/monitor/spec.ts";

const base = { everySeconds: 60, audience: "ops", probe: { type: "http", url: "https://shop.example/health?key=abc" } };

function problems(value: unknown): string[] {
  const read = readMonitorSpec(value);
  return "problems" in read ? read.problems : [];
}

describe("a monitor as it is written", () => {
  test("needs four lines, and gets the rest by what it looks at", () => {
    const spec = parseMonitorSpec(base, "monitors.shop");
    expect(spec).toMatchObject({
      failAfter: 3,
      recoverAfter: 2,
      timeoutSeconds: 10,
      severity: "critical",
      maintenance: [],
    });
    expect(monitorTitle("shop", spec)).toBe("shop.example");
    const file = parseMonitorSpec({ ...base, probe: { type: "file", path: "/var/backup" } }, "monitors.backup");
    expect(file).toMatchObject({ failAfter: 1, recoverAfter: 1 });
    expect(monitorTitle("backup", file)).toBe("backup");
  });

  test("never shows what may be a key", () => {
    expect(targetText(parseMonitorSpec(base, "").check)).toBe("GET https://shop.example/health");
    const command = { type: "command", command: "/opt/bin/check-queue", args: ["--token", "secret"] };
    expect(targetText(parseMonitorSpec({ ...base, probe: command }, "").check)).toBe("check-queue");
    expect(problems({ ...base, probe: { type: "http", url: "https://ann:secret@shop.example/" } })[0]).toContain(
      "user and password",
    );
  });

  test.each([
    [{ ...base, schedule: "0 3 * * *" }, /exactly one/],
    [{ ...base, everySeconds: 1 }, /everySeconds.*5/],
    [{ ...base, probe: { type: "ftp" } }, /"ftp" is unknown; known: http, tcp/],
    [{ ...base, probe: { type: "http", url: "shop.example" } }, /probe\.url: must be a whole address/],
    [{ ...base, probe: { type: "http", url: "file:///etc/passwd" } }, /begins with file:/],
    [{ ...base, expect: { daysLeft: 3 } }, /expect.*daysLeft/],
    [{ ...base, expect: { json: [{ path: "status", equals: 1 }] } }, /expect\.json\.0\.path.*\$\.status/],
    [{ ...base, expect: { json: [{ path: "$.status" }] } }, /equals, atLeast, atMost/],
    [{ ...base, timeoutSeconds: 300 }, /timeoutSeconds: 300 is more than 60/],
    [{ ...base, timeZone: "Mars" }, /IANA/],
    [{ ...base, maintenance: [{ from: "2026-12-02T00:00:00Z", to: "2026-12-01T00:00:00Z" }] }, /maintenance/],
    [{ ...base, audience: undefined }, /audience/],
    [{ ...base, colour: "red" }, /colour/],
    ["down", /object/],
  ])("says which field is wrong and what is wanted (%#)", (value, message) => {
    expect(problems(value).join("\n")).toMatch(message);
  });

  test("is refused by an error that names the monitor", () => {
    const refused = (): unknown => {
      try {
        return parseMonitorSpec({ ...base, failAfter: 0 }, "monitors.shop");
      } catch (error) {
        return error;
      }
    };
    const error = refused();
    expect(isHoldpointError(error) && [error.kind, error.message]).toEqual([
      "monitorInvalid",
      expect.stringMatching(/^monitors\.shop is invalid: failAfter: /),
    ]);
  });
});
