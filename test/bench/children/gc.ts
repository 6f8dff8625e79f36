/** Loaded into a server before its entry (`--import`, with `--expose-gc`): on a word of its parent it collects garbage twice and says its size. */
const { gc } = globalThis as { gc?: () => void };

process.on("message", () => {
  gc?.();
  gc?.();
  process.send?.({ rss: process.memoryUsage.rss() });
});
// The channel alone must not keep the server alive.
process.channel?.unref();
