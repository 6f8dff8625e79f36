/**
 * `npm run pictures`: the pictures of docs/operating.md, taken of the stand-in's page in a real browser. Fails when a text that the ledger
 * has cannot be read on the page. Development only; without a browser it says so and makes none.
 */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";

import { startSim } from "../../adapters/telegram/sim/index.ts";
import type { LedgerMessage } from "../../adapters/telegram/sim/types.ts";
import { ROOT } from "../harness/paths.ts";
import { findBrowser, photograph } from "./browser.ts";
import { ANN, Chat, OPS, SCENES, type Scene } from "./scenes.ts";
import { missingOn } from "./page-text.ts";

const browser = findBrowser();
if (browser === undefined || !existsSync(browser)) {
  console.log(
    "SKIPPED: no pictures were made, there is no Chromium on this machine (install chromium, or set CHROMIUM).",
  );
  process.exit(0);
}
let missing = 0;
for (const scene of SCENES) missing += await take(browser, scene);
if (missing > 0) {
  console.error(`${missing} texts of the ledger are not on the page.`);
  process.exit(1);
}

/** Plays a scene and takes its picture; returns how many texts of the ledger the page lacks. */
async function take(path: string, scene: Scene): Promise<number> {
  const group = scene.name === "votes";
  const sim = await startSim({
    users: [{ id: ANN, firstName: "Ann" }],
    chats: group ? [{ id: OPS, type: "supergroup", title: "Ops" }] : [{ id: ANN, type: "private" }],
  });
  const chat = new Chat(sim);
  try {
    await scene.play(chat);
    const file = join(ROOT, "docs", "pictures", `${scene.name}.png`);
    const { height, width } = scene;
    const page = await photograph(path, { url: sim.url, file, width, height });
    const messages: LedgerMessage[] = sim.ledger.state().chats.flatMap((one) => one.messages);
    const lost = messages.flatMap((message) => missingOn(page, message));
    for (const text of lost) console.error(`${scene.name}: ${JSON.stringify(text)} is not on the page`);
    console.log(`${scene.name}: ${messages.length} messages, ${Math.ceil(statSync(file).size / 1_024)} KiB`);
    return lost.length + (messages.length === 0 ? 1 : 0);
  } finally {
    chat.close();
    await sim.close();
  }
}
