/** What the official server does to texts and entities. */
import { describe, expect, test } from "vitest";
import { ANN, ok, refusal, smallWorld } from "./api.ts";

describe("text", () => {
  test("outer white space goes, control characters become spaces, direction marks vanish, entities move along", async () => {
    const sim = await smallWorld();
    const text = "\n a\u202eb\u0000c\r\nend \n";
    const entities = [
      { type: "bold", offset: 4, length: 2 },
      { type: "date_time", offset: 9, length: 3, unix_time: 1_800_000_000, date_time_format: "r" },
    ];
    const message = await ok(sim, "sendMessage", { chat_id: ANN, text, entities });
    expect(message.text).toBe("ab c\nend");
    expect(message.entities).toEqual([
      { type: "bold", offset: 1, length: 2 },
      { type: "date_time", offset: 5, length: 3, unix_time: 1_800_000_000, date_time_format: "r" },
    ]);
  });

  test.each([
    [{ type: "bold", offset: 3, length: 1 }, "entity begins after the end of the text at UTF-16 offset 3"],
    [{ type: "bold", offset: 0, length: 4 }, "entity ends after the end of the text at UTF-16 offset 4"],
    [{ type: "bold", offset: 2, length: 1 }, "entity begins in a middle of a UTF-16 symbol at UTF-16 offset 2"],
    [{ type: "bold", offset: 0, length: 2 }, "entity ends in a middle of a UTF-16 symbol at UTF-16 offset 2"],
    [{ type: "bold", offset: -1, length: 2 }, "receive an entity with incorrect offset: -1"],
    [{ type: "bold", offset: 0 }, `can't parse MessageEntity: Can't find field "length"`],
    [{ type: "bold", offset: "x", length: 1 }, `can't parse MessageEntity: Field "offset" must be of type Number`],
    [{ type: "date_time", offset: 0, length: 1 }, `can't parse MessageEntity: Can't find field "unix_time"`],
    [
      { type: "date_time", offset: 0, length: 1, unix_time: 1, date_time_format: "hh" },
      "can't parse MessageEntity: Unsupported date-time format specified",
    ],
  ])("refuses the entity %j", async (entity, expected) => {
    const sim = await smallWorld();
    expect(await refusal(sim, "sendMessage", { chat_id: ANN, text: "a😀", entities: [entity] })).toBe(
      `400 Bad Request: ${expected}`,
    );
  });

  test("unknown entity types are ignored; links and commands are found by the server, but not in code", async () => {
    const sim = await smallWorld();
    const text = "/status see https://example.org/a and @ann_example";
    const entities = [
      { type: "sparkle", offset: 0, length: 3 },
      { type: "code", offset: 12, length: 21 },
    ];
    const { entities: kept } = await ok(sim, "sendMessage", { chat_id: ANN, text, entities });
    expect(kept.map((entity: { type: string }) => entity.type)).toEqual(["bot_command", "code", "mention"]);
    const plain = await ok(sim, "sendMessage", { chat_id: ANN, text });
    expect(plain.entities).toContainEqual({ type: "url", offset: 12, length: 21 });
  });

  test.each([
    ["HTML", `<b>a <i>b</i></b> <a href="https://example.org/?a&amp;b">l</a> <pre>x&lt;y</pre>`],
    ["MarkdownV2", "*a _b_* [l](https://example.org/?a&b) ```x<y```"],
  ])("parse_mode %s gives the same entities as the explicit ones", async (parse_mode, text) => {
    const sim = await smallWorld();
    const message = await ok(sim, "sendMessage", { chat_id: ANN, text, parse_mode });
    expect(message.text).toBe("a b l x<y");
    expect(message.entities).toEqual([
      { type: "bold", offset: 0, length: 3 },
      { type: "italic", offset: 2, length: 1 },
      { type: "text_link", offset: 4, length: 1, url: "https://example.org/?a&b" },
      { type: "pre", offset: 6, length: 3 },
    ]);
  });
});
