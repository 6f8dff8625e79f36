// Builds dist/ from src, adapters and renderers with tsc, joins its modules (bundle.mjs), and makes the CLI executable. Skipped
// inside an installed package (no TypeScript there), so that `prepare` never gets in a user's way.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
if (!existsSync(tsc)) process.exit(0);
rmSync(join(root, "dist"), { recursive: true, force: true });
const result = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.json")], { stdio: "inherit" });
if (result.status !== 0) process.exit(result.status ?? 1);
const { bundle } = await import("./bundle.mjs");
await bundle();
const cli = join(root, "dist", "src", "cli", "main.js");
if (existsSync(cli)) chmodSync(cli, 0o755);
