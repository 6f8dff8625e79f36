// What a probe found, in English. Values come from outside and are made inert and cut here.

import type { Finding } from "../../../src/contracts/monitor/finding.ts";
import type { Phrase } from "../phrase.ts";
import { day, duration } from "./time.ts";
import { quote, short } from "./words.ts";

const VALUE = 80;
const value = (text: string): string => short(text, VALUE);
const quoted = (text: string): string => quote(text, VALUE);
const seconds = (count: number): string => `${count} ${count === 1 ? "second" : "seconds"}`;
const bytes = (count: number): string => `${count} ${count === 1 ? "byte" : "bytes"}`;
const days = (count: number): string => `${count} ${count === 1 ? "day" : "days"}`;
const seen = (text: string | null): string => (text === null ? "nothing" : quoted(text));

const PHASE: Readonly<Record<Extract<Finding, { code: "timeout" }>["phase"], string>> = {
  lookup: "the name was still being looked up",
  connect: "no connection",
  secure: "no secure connection",
  answer: "no complete answer",
  read: "no answer from the file's disk or network mount",
  run: "the command had not ended",
};

const TLS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "nobody vouches for the certificate",
  SELF_SIGNED_CERT_IN_CHAIN: "nobody vouches for the certificate",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the certificate's chain is not complete",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "nobody vouches for the certificate",
  CERT_HAS_EXPIRED: "the certificate has run out",
  CERT_NOT_YET_VALID: "the certificate is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another name",
};

/** One line without a full stop: "503 instead of 200–299". */
export function findingPhrase(finding: Finding): Phrase {
  if (finding.code === "late")
    return finding.lastAt === null ? ["no report yet"] : ["no report since ", day(finding.lastAt)];
  return [findingWords(finding)];
}

function findingWords(finding: Exclude<Finding, { code: "late" }>): string {
  switch (finding.code) {
    case "ok":
      return finding.detail === undefined ? "as expected" : value(finding.detail);
    case "status":
      return `${finding.seen} instead of ${value(finding.expected)}`;
    case "redirect":
      return `${finding.seen}, a redirect to ${value(finding.to)}`;
    case "body":
      return `the answer does not hold ${quoted(finding.expected)}`;
    case "header":
      return `header ${value(finding.header)} is ${seen(finding.seen)}, not ${quoted(finding.expected)}`;
    case "json":
      return `${value(finding.path)} is ${seen(finding.seen)}, not ${quoted(finding.expected)}`;
    case "notJson":
      return "the answer is no JSON";
    case "tooLarge":
      return "the answer does not end";
    case "timeout":
      return `${PHASE[finding.phase]} after ${seconds(finding.seconds)}`;
    case "lookup":
      return `the name ${value(finding.host)} cannot be found`;
    case "refused":
      return "connection refused";
    case "unreachable":
      return `cannot be reached (${value(finding.detail)})`;
    case "reset":
      return "the connection was broken off";
    case "tls":
      return TLS[finding.detail] ?? `no secure connection (${value(finding.detail)})`;
    case "certificate":
      return finding.daysLeft < 0
        ? `the certificate ran out ${days(-finding.daysLeft)} ago`
        : `the certificate runs out in ${days(finding.daysLeft)}`;
    case "protocol":
      return `what it says cannot be understood (${value(finding.detail)})`;
    case "greeting":
      return `its greeting is ${seen(finding.seen)}, not ${quoted(finding.expected)}`;
    case "exitCode": {
      const said = finding.detail === undefined ? "" : `: ${value(finding.detail)}`;
      return `exit code ${finding.seen} instead of ${finding.expected}${said}`;
    }
    case "signal":
      return `ended by ${value(finding.signal)}`;
    case "notStarted":
      return `could not be started: ${value(finding.detail)}`;
    case "output":
      return `its output does not hold ${quoted(finding.expected)}`;
    case "fileMissing":
      return "the file is not there";
    case "fileThere":
      return "the file is there";
    case "fileOld":
      return `written ${duration(finding.ageSeconds * 1_000)} ago, not within ${duration(finding.expected * 1_000)}`;
    case "fileSmall":
      return `${bytes(finding.bytes)} instead of ${finding.expected} or more`;
    case "fileContent":
      return `the file does not hold ${quoted(finding.expected)}`;
    case "fileUnreadable":
      return `the file cannot be read (${value(finding.detail)})`;
    case "reportedFailure":
      return finding.detail === undefined ? "the job says that it failed" : `the job failed: ${value(finding.detail)}`;
    case "notProbed":
      return `could not be looked at: ${value(finding.detail)}`;
  }
}
