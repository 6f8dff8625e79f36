// What a probe found, in German. Values come from outside and are made inert and cut here.

import type { Finding } from "../../../src/contracts/monitor/finding.ts";
import { day } from "../en/time.ts";
import { many, short } from "../en/words.ts";
import type { Phrase } from "../phrase.ts";
import { durationAfter } from "./time.ts";
import { quote } from "./words.ts";

const VALUE = 80;
const value = (text: string): string => short(text, VALUE);
const quoted = (text: string): string => quote(text, VALUE);
const seen = (text: string | null): string => (text === null ? "nichts" : quoted(text));
const days = (count: number): string => many(count, "Tag", "Tagen");

const PHASE: Readonly<Record<Extract<Finding, { code: "timeout" }>["phase"], string>> = {
  lookup: "der Name wurde noch gesucht",
  connect: "keine Verbindung",
  secure: "keine sichere Verbindung",
  answer: "keine vollst\u00e4ndige Antwort",
  read: "keine Antwort von der Platte oder der Netzfreigabe der Datei",
  run: "der Befehl war nicht zu Ende",
};

const TLS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "niemand b\u00fcrgt f\u00fcr das Zertifikat",
  SELF_SIGNED_CERT_IN_CHAIN: "niemand b\u00fcrgt f\u00fcr das Zertifikat",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "die Kette des Zertifikats ist nicht vollst\u00e4ndig",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "niemand b\u00fcrgt f\u00fcr das Zertifikat",
  CERT_HAS_EXPIRED: "das Zertifikat ist abgelaufen",
  CERT_NOT_YET_VALID: "das Zertifikat gilt noch nicht",
  ERR_TLS_CERT_ALTNAME_INVALID: "das Zertifikat ist f\u00fcr einen anderen Namen",
};

/** One line without a full stop: "503 statt 200–299". */
export function findingPhrase(finding: Finding): Phrase {
  if (finding.code === "late")
    return finding.lastAt === null ? ["noch keine Meldung"] : ["keine Meldung seit ", day(finding.lastAt)];
  return [findingWords(finding)];
}

function findingWords(finding: Exclude<Finding, { code: "late" }>): string {
  switch (finding.code) {
    case "ok":
      return finding.detail === undefined ? "wie erwartet" : value(finding.detail);
    case "status":
      return `${finding.seen} statt ${value(finding.expected)}`;
    case "redirect":
      return `${finding.seen}, eine Umleitung nach ${value(finding.to)}`;
    case "body":
      return `die Antwort enth\u00e4lt nicht ${quoted(finding.expected)}`;
    case "header":
      return `Kopfzeile ${value(finding.header)} ist ${seen(finding.seen)}, nicht ${quoted(finding.expected)}`;
    case "json":
      return `${value(finding.path)} ist ${seen(finding.seen)}, nicht ${quoted(finding.expected)}`;
    case "notJson":
      return "die Antwort ist kein JSON";
    case "tooLarge":
      return "die Antwort h\u00f6rt nicht auf";
    case "timeout":
      return `${PHASE[finding.phase]} nach ${many(finding.seconds, "Sekunde", "Sekunden")}`;
    case "lookup":
      return `der Name ${value(finding.host)} ist nicht zu finden`;
    case "refused":
      return "Verbindung verweigert";
    case "unreachable":
      return `nicht erreichbar (${value(finding.detail)})`;
    case "reset":
      return "die Verbindung wurde abgebrochen";
    case "tls":
      return TLS[finding.detail] ?? `keine sichere Verbindung (${value(finding.detail)})`;
    case "certificate":
      return finding.daysLeft < 0
        ? `das Zertifikat ist seit ${days(-finding.daysLeft)} abgelaufen`
        : `das Zertifikat l\u00e4uft in ${days(finding.daysLeft)} ab`;
    case "protocol":
      return `was es sagt, ist nicht zu verstehen (${value(finding.detail)})`;
    case "greeting":
      return `es begr\u00fc\u00dft mit ${seen(finding.seen)}, nicht ${quoted(finding.expected)}`;
    case "exitCode": {
      const said = finding.detail === undefined ? "" : `: ${value(finding.detail)}`;
      return `Exit-Code ${finding.seen} statt ${finding.expected}${said}`;
    }
    case "signal":
      return `beendet durch ${value(finding.signal)}`;
    case "notStarted":
      return `nicht zu starten: ${value(finding.detail)}`;
    case "output":
      return `die Ausgabe enth\u00e4lt nicht ${quoted(finding.expected)}`;
    case "fileMissing":
      return "die Datei ist nicht da";
    case "fileThere":
      return "die Datei ist da";
    case "fileOld":
      return `geschrieben vor ${durationAfter(finding.ageSeconds * 1_000)}, nicht innerhalb von ${durationAfter(finding.expected * 1_000)}`;
    case "fileSmall":
      return `${finding.bytes} Byte statt ${finding.expected} oder mehr`;
    case "fileContent":
      return `die Datei enth\u00e4lt nicht ${quoted(finding.expected)}`;
    case "fileUnreadable":
      return `die Datei ist nicht zu lesen (${value(finding.detail)})`;
    case "reportedFailure":
      return finding.detail === undefined
        ? "der Job meldet, dass er gescheitert ist"
        : `der Job ist gescheitert: ${value(finding.detail)}`;
    case "notProbed":
      return `nicht zu pr\u00fcfen: ${value(finding.detail)}`;
  }
}
