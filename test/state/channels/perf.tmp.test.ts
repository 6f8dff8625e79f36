import { it } from "vitest";
import { World, tokensOf, type Posted } from "../decisions/fixture.ts";
it("perf", async () => {
  const world = await World.open();
  const N = 1500;
  const cards: Posted[] = [];
  for (let i = 0; i < N; i++) { await world.ask({presentation: { schema: "holdpoint.decision-presentation.v1", summary: "shop-api 4.12.0 to production", blocks: [{kind:"bullets", items:["Three migrations, all reversible","Cache keys renamed"]},{kind:"fields",items:[{label:"Repository",value:"shop-api"},{label:"Commit",value:"9f2c1e7"}]}] }}); cards.push(await world.deliver()); }
  for (const [a,b] of [[0,500],[500,1000],[1000,1500]] as const) {
    const t0 = process.cpuUsage(); const w0 = performance.now();
    await Promise.all(cards.slice(a,b).map((c) => world.tap(c, "approve")));
    const t = process.cpuUsage(t0);
    console.log("per tap us cpu", (t.user + t.system) / (b-a), "wall", (performance.now() - w0) * 1000 / (b-a));
  }
  const t0 = performance.now(); let n = 0;
  for (let i = 0; i < 300; i++) { const p = await world.next(); if (!p) break; await world.dispatch(p,1,1); await world.finish(p, "accepted"); n++; }
  console.log("settle loop ms each", (performance.now() - t0) / n);
  const q = performance.now(); for (let i=0;i<50;i++) await world.mustNext().then((p)=>world.finish(p,"notSent")); console.log("x", (performance.now()-q)/50);
}, 200000);
