/** The page on which people look at the chats. */
import { expect, test } from "vitest";
import { renderText } from "../../../../adapters/telegram/sim/page.ts";
import { ANN, ok, smallWorld } from "./api.ts";

test("the page shows cards, buttons, toasts and replies, and no text becomes markup", async () => {
  const sim = await smallWorld();
  const { message_id } = await ok(sim, "sendMessage", {
    chat_id: ANN,
    text: '<script>alert(1)</script> & "more"',
    entities: [{ type: "bold", offset: 0, length: 8 }],
    disable_notification: true,
    reply_markup: {
      inline_keyboard: [
        [
          { text: "<Approve>", callback_data: "x", style: "success" },
          { text: "Done", disabled: {} },
        ],
      ],
    },
  });
  const { callbackId } = sim.people.tap(ANN, ANN, message_id, 0);
  await ok(sim, "answerCallbackQuery", { callback_query_id: callbackId, text: "Recorded <1>" });
  sim.people.reply(ANN, ANN, message_id, "Thanks");
  const response = await fetch(sim.url);
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  const html = await response.text();
  expect(html).not.toMatch(/<script|<Approve|<1>/u);
  expect(html).toContain("<b>&#60;script&#62;</b>");
  expect(html).toContain(`<span class="key success">&#60;Approve&#62;</span>`);
  expect(html).toContain(`<span class="key off">Done</span>`);
  expect(html).toContain("To Ann: Recorded &#60;1&#62;");
  expect(html).toContain("silent");
});

test("entities nest, overlap and show times", () => {
  const now = Date.UTC(2027, 0, 15, 12, 0);
  const entities = [
    { type: "bold", offset: 0, length: 4 },
    { type: "code", offset: 2, length: 5 },
    { type: "date_time", offset: 8, length: 5, unix_time: now / 1000 + 7200, date_time_format: "r" },
    { type: "text_link", offset: 14, length: 1, url: `javascript:"x"` },
  ];
  expect(renderText("abcdefgh14:30 l", entities, now)).toBe(
    `<b>ab<code>cd</code></b>efgh<time datetime="2027-01-15T14:00:00.000Z" title="2027-01-15T14:00:00.000Z">in 2 hours</time> <span class="link" title="javascript:&#34;x&#34;">l</span>`,
  );
});
