/**
 * How a client writes a date_time entity in the reader's zone; here the reader sits at this machine. Format letters as
 * in the Bot API: r relative, w weekday, d/D short and long date, t/T short and long time.
 */
export function formatDateTime(at: number, format: string, now: number): string {
  if (Number.isNaN(new Date(at).getTime())) return "an impossible time";
  if (format === "r") return relative(at - now);
  const options: Intl.DateTimeFormatOptions = { hourCycle: "h23" };
  if (format.includes("w")) options.weekday = "short";
  if (format.includes("d")) Object.assign(options, { day: "2-digit", month: "2-digit", year: "numeric" });
  if (format.includes("D")) Object.assign(options, { day: "numeric", month: "long", year: "numeric" });
  if (/t/iu.test(format)) Object.assign(options, { hour: "2-digit", minute: "2-digit" });
  if (format.includes("T")) options.second = "2-digit";
  return new Intl.DateTimeFormat("en-GB", options).format(at);
}

const UNITS: [unit: Intl.RelativeTimeFormatUnit, ms: number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

function relative(ms: number): string {
  const words = new Intl.RelativeTimeFormat("en");
  const [unit, size] = UNITS.find(([, length]) => Math.abs(ms) >= length) ?? ["second", 1000];
  return words.format(Math.round(ms / size), unit);
}
