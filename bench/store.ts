import Database from "better-sqlite3";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteLog } from "../src/adapters/store/sqlite-log.ts";
import type { Event } from "../src/core/events.ts";
import { Journal } from "../src/engine/journal.ts";
import type { Log } from "../src/engine/ports.ts";
import { writeLongHistory } from "../test/web/long-history.ts";
import { figureOf, type Benchmark, type Figure } from "./benchmark.ts";
import { timeOf, timeOfAsync } from "./samples.ts";

const ROUNDS = 7;
const APPENDS = 300;
const ITERATIONS = 2_000;
const FACT: Event = { type: "task.unblocked", task: "task-1", reason: "", timeoutMs: null, by: "person" };

export const store: Benchmark = {
  about: "The log on this machine: one fact appended, and all of a log folded into the state.",
  async measure() {
    const folder = mkdtempSync(join(tmpdir(), "ralph-bench-store-"));
    try {
      const { log } = openSqliteLog(join(folder, "state.db"), "bench");
      const figures = [await timeAppends(log, folder), await timeReplay(log, folder)];
      await log.close();
      return figures;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function timeAppends(log: Log, folder: string): Promise<Figure> {
  const bare = new Database(join(folder, "bare.db"));
  bare.pragma("journal_mode = WAL");
  bare.pragma("synchronous = FULL");
  bare.exec("CREATE TABLE facts (text TEXT)");
  const insert = bare.prepare("INSERT INTO facts VALUES (?)");
  const text = JSON.stringify(FACT);
  const [ours, floor]: [number[][], number[][]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    floor.push(Array.from({ length: APPENDS }, () => timeOf(() => insert.run(text))));
    const times: number[] = [];
    for (let count = 0; count < APPENDS; count += 1)
      times.push(await timeOfAsync(() => log.append([FACT], { task: { id: "task-2", position: 0 } })));
    ours.push(times);
  }
  bare.close();
  return figureOf({ name: "append a fact, durably", floorIs: "one durable INSERT" }, { ours, floor });
}

async function timeReplay(log: Log, folder: string): Promise<Figure> {
  await writeLongHistory(log, ITERATIONS);
  const bare = new Database(join(folder, "state.db"), { readonly: true });
  const select = bare.prepare("SELECT data FROM events ORDER BY position");
  const parseAll = (): void => {
    for (const row of select.iterate() as IterableIterator<{ data: string }>) JSON.parse(row.data);
  };
  const [ours, floor]: [number[][], number[][]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    floor.push([timeOf(parseAll)]);
    ours.push([await timeOfAsync(() => Journal.open(log, [], Date.now))]);
  }
  bare.close();
  const name = `replay ${ITERATIONS.toLocaleString("en")} iterations without a snapshot`;
  return figureOf({ name, floorIs: "SELECT and JSON.parse" }, { ours, floor });
}
