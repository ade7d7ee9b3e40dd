import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { Database } from "./database.ts";

export interface Listening {
  close(): Promise<void>;
}

const AGAIN_MS = 1_000;

/** Calls on every message of the channel, and after every reconnect, since some may have been missed. */
export async function listen(database: Database, channel: string, heard: () => void): Promise<Listening> {
  const ending = new AbortController();
  const { signal } = ending;
  // Whatever keeps us from it, the log is looked at from time to time anyway.
  const open = async (): Promise<Client | null> => {
    try {
      const client = await database.connect();
      client.on("notification", heard);
      await client.query(`LISTEN "${channel}"`);
      return client;
    } catch {
      return null;
    }
  };
  const keepListening = async (first: Client | null): Promise<void> => {
    for (let client = first; ; client = await open()) {
      if (client === null) await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
      else {
        if (client !== first) heard();
        await once(client, "end", { signal }).catch(() => {});
      }
      if (!signal.aborted) continue;
      await client?.end().catch(() => {});
      return;
    }
  };
  const listening = keepListening(await open());
  return {
    close: async () => {
      ending.abort();
      await listening;
    },
  };
}
