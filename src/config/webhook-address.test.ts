import { expect, test } from "vitest";
import { formatOf, shownAddress, webhookSecrets } from "./webhook-address.ts";

const SLACK = "https://hooks.slack.com/services/T000/B000/abcdefghijklmnopqrstuvwx";

test.each([
  [SLACK, "slack"],
  ["https://discord.com/api/webhooks/1/abc", "discord"],
  ["https://ptb.discordapp.com/api/webhooks/1/abc", "discord"],
  ["https://notdiscord.com/api/webhooks/1/abc", "json"],
  ["https://discord.com/elsewhere", "json"],
  ["https://example.com/hooks.slack.com", "json"],
])("what is posted to %s is %s", (url, format) => {
  expect(formatOf(url)).toBe(format);
});

test("the address is a secret, and so are the parts of it that look like one", () => {
  expect(webhookSecrets(SLACK)).toEqual([SLACK, "abcdefghijklmnopqrstuvwx"]);
  expect(webhookSecrets("https://me:hunter22hunter@x.org/notices?key=0123456789abcdef")).toEqual([
    "https://me:hunter22hunter@x.org/notices?key=0123456789abcdef",
    "hunter22hunter",
    "0123456789abcdef",
  ]);
  expect(webhookSecrets("")).toEqual([]);
});

test("nobody sees more of it than the host", () => {
  expect(shownAddress(SLACK)).toBe("https://hooks.slack.com/…");
  expect(shownAddress("nonsense")).toBe("[redacted]");
});
