// Who may import whom (docs/architecture.md, "The house"). Reads every import of src, adapters and renderers as text and
// fails on one that crosses a border. A folder that is not listed may not exist.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** Zone → zones it may import besides itself. Every zone may import `contracts`. */
const MAY = {
  "src/contracts": [],
  "src/workflow/rules": [],
  "src/workflow": ["src/workflow/rules"],
  "src/decision": [],
  "src/alert": ["src/decision"],
  "src/resource/rules": [],
  "src/resource": ["src/workflow", "src/resource/rules"],
  "src/state": ["src/decision", "src/alert", "src/workflow/rules", "src/resource/rules"],
  "src/server": ["src/state", "src/decision", "src/workflow/rules", "src/resource/rules"],
  "src/runner": ["src/workflow", "src/workflow/rules", "src/resource"],
  "src/builtins": ["src/workflow", "src/resource"],
  "src/testing": ["src/workflow", "src/workflow/rules", "src/resource", "src/resource/rules", "src/decision"],
  "src/client": [],
  "src/cli": ["src/client", "renderers"],
  "adapters/channel": ["renderers"],
  "adapters/telegram/sim": [],
  "adapters/telegram": ["renderers", "adapters/channel"],
  "adapters/pi": ["renderers", "adapters/channel"],
  "adapters/pi/extension": ["renderers", "src/client", "adapters/pi"],
  renderers: [],
};
/** Package → the only zones that may import it. */
const ONLY = {
  grammy: ["adapters/telegram"],
  "better-sqlite3": ["src/state"],
  jiti: ["src/runner"],
  commander: ["src/cli"],
  "markdown-it": ["renderers"],
  croner: ["src/contracts"],
  pino: ["src/server"],
  "pino-pretty": ["src/server", "src/cli"],
};

const zones = Object.keys(MAY).sort((a, b) => b.length - a.length);
const zoneOf = (path) => zones.find((zone) => path === `${zone}.ts` || path.startsWith(`${zone}/`));

function* files(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else if (/\.[cm]?ts$/.test(entry.name)) yield path;
  }
}

const problems = [];
let count = 0;
for (const top of ["src", "adapters", "renderers"]) {
  for (const file of files(join(root, top))) {
    count += 1;
    const from = relative(root, file).split(sep).join("/");
    const zone = zoneOf(from);
    if (!zone) {
      problems.push(`${from}: stands in no known folder`);
      continue;
    }
    const source = readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
    for (const match of source.matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g)) {
      const target = match[1];
      if (target.startsWith(".")) {
        const to = relative(root, resolve(dirname(file), target))
          .split(sep)
          .join("/");
        const other = zoneOf(to);
        if (other === undefined) problems.push(`${from} imports ${to}, which stands in no known folder`);
        else if (other !== zone && other !== "src/contracts" && !MAY[zone].includes(other))
          problems.push(`${from} (${zone}) may not import ${to} (${other})`);
      } else if (!target.startsWith("node:")) {
        const name = target.startsWith("@") ? target.split("/").slice(0, 2).join("/") : target.split("/")[0];
        const only = ONLY[name];
        if (only && !only.includes(zone))
          problems.push(`${from} (${zone}) may not import ${name}; only ${only.join(", ")} may`);
      }
    }
  }
}
if (count === 0) problems.push("no source file was read");
for (const problem of problems) console.log(problem);
console.log(`${count} files read, ${problems.length} crossings`);
process.exit(problems.length === 0 ? 0 : 1);
