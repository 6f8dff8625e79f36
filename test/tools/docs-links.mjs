// Every relative link of README, CHANGELOG and docs leads to a file, and every anchor to a heading.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const pages = ["README.md", "CHANGELOG.md"].filter((name) => existsSync(join(root, name)));
for (const name of existsSync(join(root, "docs")) ? readdirSync(join(root, "docs"), { recursive: true }) : []) {
  if (String(name).endsWith(".md")) pages.push(join("docs", String(name)));
}
const slug = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[`*_]/g, "")
    .replace(/[^\p{L}\p{N}\s-]/gu, "")
    .replace(/\s/g, "-");
const headings = (text) => [...text.matchAll(/^#{1,6}\s+(.+)$/gm)].map((match) => slug(match[1]));

const problems = [];
let links = 0;
for (const page of pages) {
  const text = readFileSync(join(root, page), "utf8").replace(/```[\s\S]*?```/g, "");
  for (const match of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    const [target, anchor] = match[1].split("#");
    if (/^[a-z]+:/.test(match[1])) continue;
    links += 1;
    const file = target === "" ? join(root, page) : resolve(dirname(join(root, page)), target);
    if (!existsSync(file)) problems.push(`${page}: ${match[1]} leads nowhere`);
    else if (anchor && file.endsWith(".md") && !headings(readFileSync(file, "utf8")).includes(anchor))
      problems.push(`${page}: ${match[1]} has no such heading`);
  }
}
for (const problem of problems) console.log(problem);
console.log(`${pages.length} pages, ${links} links, ${problems.length} broken`);
process.exit(problems.length === 0 ? 0 : 1);
