import { expect, test } from "vitest";
import { looksSecret } from "./read-leftovers.ts";

test.each([
  ".env",
  "app/.env.local",
  ".env.production",
  "server.pem",
  "tls/server.key",
  "id_rsa",
  "id_ed25519_work",
  "release.p12",
  "release.pfx",
  "android.keystore",
  "credentials.json",
  "credentials-prod.json",
  "Credentials.JSON",
  "service-account.json",
  ".netrc",
  ".pgpass",
  ".aws/credentials",
])("%s looks like a secret", (path) => {
  expect(looksSecret(path, () => "")).toBe(true);
});

test.each([
  ".env.example",
  ".env.sample",
  ".env.template",
  "credentials.example.json",
  "id_rsa.pub",
  "src/environment.ts",
  "src/env.ts",
  "keyboard.ts",
  "src/credentials.ts",
  "monkey",
  "docs/.envrc.md",
])("%s does not", (path) => {
  expect(looksSecret(path, () => "")).toBe(false);
});

test(".npmrc does when a token is in it", () => {
  expect(looksSecret(".npmrc", () => "//registry.npmjs.org/:_authToken=npm_123")).toBe(true);
  expect(looksSecret(".npmrc", () => "save-exact=true\n")).toBe(false);
});
