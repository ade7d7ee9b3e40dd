import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../../test/support/postgres.ts";
import { openDatabase } from "./database.ts";

// The server's certificate is one for localhost, signed by an authority that nobody knows; valid until 2126.
const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../test/fixtures/tls/${name}`, import.meta.url));
const known = `sslrootcert=${fixture("authority.crt")}`;
const other = `sslrootcert=${fixture("other-authority.crt")}`;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    configuration: ["ssl = on"],
    files: {
      "server.crt": readFileSync(fixture("localhost.crt"), "utf8"),
      "server.key": readFileSync(fixture("localhost.key"), "utf8"),
    },
    // By TLS everybody, without it only the user `plain`, who is not there.
    access: "hostssl all all all scram-sha-256\nhostnossl all plain all scram-sha-256\n",
  });
}, 90_000);
afterAll(() => server.remove());

test.each([
  "",
  "sslmode=prefer",
  "sslmode=require",
  `sslmode=require&${known}`,
  `sslmode=verify-ca&${known}`,
  `sslmode=verify-full&${known}`,
])("a server with TLS lets in: %s", async (options) => {
  const database = await openDatabase(`${server.url}?${options}`);
  const used = await database.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
  expect(used).toEqual([{ ssl: true }]);
  await database.close();
});

test.each([
  `sslmode=require&${other}`,
  `sslmode=verify-ca&${other}`,
  "sslmode=verify-full",
  `sslmode=verify-full&${other}`,
])("a server whose authority is not the one is not trusted: %s", async (options) => {
  await expect(openDatabase(`${server.url}?${options}`)).rejects.toMatchObject({
    code: "config",
    message: expect.stringContaining("cannot be reached by TLS as it was asked for"),
    hint: "check sslmode and sslrootcert in [queue] url",
  });
});

test("the name counts for verify-full, and not for verify-ca", async () => {
  const byAddress = server.url.replace("localhost", "127.0.0.1");
  await (await openDatabase(`${byAddress}?sslmode=verify-ca&${known}`)).close();
  await expect(openDatabase(`${byAddress}?sslmode=verify-full&${known}`)).rejects.toMatchObject({
    code: "config",
    message: expect.stringContaining("127.0.0.1"),
  });
});

test("a server that lets nobody in without TLS says so", async () => {
  await expect(openDatabase(`${server.url}?sslmode=disable`)).rejects.toMatchObject({
    code: "config",
    message: expect.stringMatching(/does not let us in \(.*no encryption/),
  });
});

test("a file that is not there is named", async () => {
  await expect(
    openDatabase(`${server.url}?sslmode=verify-full&sslrootcert=/no/such.crt`),
  ).rejects.toMatchObject({
    code: "config",
    message: "the file /no/such.crt, which [queue] url names, cannot be read",
  });
});
