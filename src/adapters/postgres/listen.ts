import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { type Database, isConnectionTrouble } from "./database.ts";

export interface Listening {
  close(): Promise<void>;
}

const PING_MS = 30_000;
const PING_PATIENCE_MS = 10_000;
const AGAIN_MS = 1_000;

/** Calls on every message of the channel, and after every reconnect, since some may have been missed. */
export async function listen(database: Database, channel: string, heard: () => void): Promise<Listening> {
  const ending = new AbortController();
  const open = async (): Promise<Client> => {
    const client = await database.connect();
    client.on("notification", heard);
    await client.query(`LISTEN "${channel}"`);
    return client;
  };
  const first = await openIfThere(open);
  const listening = keepListening(first, open, heard, ending.signal);
  return {
    close: async () => {
      ending.abort();
      await listening;
    },
  };
}

async function openIfThere(open: () => Promise<Client>): Promise<Client | null> {
  try {
    return await open();
  } catch (error) {
    if (isConnectionTrouble(error) || /does not support SSL/.test(String(error))) return null;
    throw error;
  }
}

async function keepListening(
  first: Client | null,
  open: () => Promise<Client>,
  heard: () => void,
  ending: AbortSignal,
): Promise<void> {
  let client = first;
  while (!ending.aborted) {
    if (client !== null) await untilLost(client, ending);
    client = null;
    if (ending.aborted) return;
    // Whatever keeps us from it, the log is looked at from time to time anyway.
    client = await open().catch(() => null);
    if (client === null) await sleep(AGAIN_MS, undefined, { signal: ending }).catch(() => {});
    else heard();
  }
  await client?.end().catch(() => {});
}

/** A connection over which nothing comes any longer looks like one on which nobody says anything: so it is asked. */
async function untilLost(client: Client, ending: AbortSignal): Promise<void> {
  const over = new AbortController();
  const lost = once(client, "end", { signal: over.signal }).catch(() => {});
  const stopped = once(ending, "abort", { signal: over.signal }).catch(() => {});
  const pinging = ping(client, over.signal);
  await Promise.race([lost, stopped, pinging]);
  over.abort();
  await Promise.race([client.end().catch(() => {}), sleep(1_000, undefined, { ref: false })]);
}

async function ping(client: Client, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await sleep(PING_MS, undefined, { signal: over }).catch(() => {});
    if (over.aborted) return;
    const asked = client.query("SELECT 1").then(
      () => true,
      () => false,
    );
    const silence = sleep(PING_PATIENCE_MS, false, { signal: over }).catch(() => false);
    if (!(await Promise.race([asked, silence]))) return;
  }
}
