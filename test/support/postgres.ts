import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { startServer, type TestServer } from "./postgres-server.ts";

export { startServer, type TestServer } from "./postgres-server.ts";
export { cuttableProxy, type CuttableProxy } from "./cuttable-proxy.ts";

export interface FreshDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * An empty database on a real server: the one that `RALPH_TEST_POSTGRES` names (its user may create databases), or one
 * that is started for this process and goes with it.
 */
export async function freshDatabase(): Promise<FreshDatabase> {
  const server = await serverUrl();
  const name = `ralph_test_${randomUUID().replaceAll("-", "")}`;
  await administer(server, `CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** What a worker's role needs when somebody else owns the schemas; `role` is quoted already. */
export function grantsFor(role: string): readonly string[] {
  return [
    `GRANT USAGE ON SCHEMA ralph TO ${role}`,
    `GRANT SELECT ON ralph.version TO ${role}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ralph.projects, ralph.events, ralph.snapshots, ralph.leases, ralph.workers TO ${role}`,
  ];
}

/** Runs statements on a connection of their own; answers the rows of the last one. */
export async function administer(url: string, ...statements: readonly string[]): Promise<void> {
  await ask(url, ...statements);
}

export async function ask<Row extends object>(
  url: string,
  ...statements: readonly string[]
): Promise<readonly Row[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    let rows: readonly Row[] = [];
    for (const statement of statements) rows = (await client.query<Row>(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

let own: Promise<TestServer> | undefined;

async function serverUrl(): Promise<string> {
  const named = process.env["RALPH_TEST_POSTGRES"];
  if (named !== undefined && named !== "") return named;
  own ??= startServer();
  return (await own).url;
}
