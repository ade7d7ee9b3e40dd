import { expect, test } from "vitest";
import type { Notice } from "./notice.ts";
import { payload } from "./payload.ts";

const sending = { project: "shop", host: "here", now: Date.UTC(2026, 0, 1) };
const notice: Notice = {
  id: "r1-7",
  position: 7,
  kind: "decide",
  at: Date.UTC(2025, 11, 31),
  run: "r1",
  task: "a",
  text: "a asks: <!channel> & *all*?",
  command: 'ralph decide a "<one>"',
  event: { type: "question.asked" },
};

test("JSON has everything, and when it was sent", () => {
  expect(JSON.parse(payload("json", notice, sending))).toEqual({
    schema: "ralph.notice.v1",
    id: "r1-7",
    kind: "decide",
    at: "2025-12-31T00:00:00.000Z",
    sent_at: "2026-01-01T00:00:00.000Z",
    project: "shop",
    host: "here",
    run: "r1",
    task: "a",
    text: "a asks: <!channel> & *all*?",
    command: 'ralph decide a "<one>"',
    event: { type: "question.asked" },
  });
});

test("Slack gets a text in which nothing calls a whole channel", () => {
  expect(JSON.parse(payload("slack", notice, sending))).toEqual({
    text: 'shop: a asks: &lt;!channel&gt; &amp; *all*?\n→ `ralph decide a "&lt;one&gt;"`',
  });
});

test("Discord gets a content that mentions nobody, and is short enough for it", () => {
  const long = { ...notice, text: `@everyone ${"🚀".repeat(2_000)}` };
  const body = JSON.parse(payload("discord", long, sending)) as { content: string };
  expect(body).toMatchObject({ allowed_mentions: { parse: [] } });
  expect(body.content.length).toBeLessThanOrEqual(2_000);
  expect(body.content).toMatch(/^\*\*shop\*\*: @everyone 🚀+…\n→ `ralph decide a "<one>"`$/u);
});
