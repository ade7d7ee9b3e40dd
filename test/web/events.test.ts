import { afterAll, beforeAll, expect, test } from "vitest";
import type { LiveProgress } from "../../src/core/views/overview.ts";
import type { Facts } from "../../src/web/api.ts";
import { createProject, until, type Project } from "../e2e/project.ts";
import { openPage, type Page } from "./web-client.ts";

let project: Project;
let page: Page;
let progress: readonly LiveProgress[] = [];

beforeAll(async () => {
  project = createProject();
  project.script({ one: [[{ promise: "DECIDE:which colour?" }]] });
  await project.ralph("run");
  page = await openPage(project.root, {
    ports: { driving: async () => ({ isDriven: false, progress, workers: null }) },
  });
});

afterAll(async () => {
  await page.stop();
  project.dispose();
});

interface Told {
  readonly event: string;
  readonly id: string | null;
  readonly data: unknown;
}

/** A browser's side of the stream. */
class Listening {
  readonly told: Told[] = [];
  readonly #abort = new AbortController();
  isOver = false;

  static async open(
    from: Page,
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Listening> {
    const listening = new Listening();
    const response = await fetch(`${from.origin}${path}`, {
      headers: { cookie: from.cookie, ...headers },
      signal: listening.#abort.signal,
    });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    void listening.#read(response);
    return listening;
  }

  facts(): readonly Facts[] {
    return this.told.filter(({ event }) => event === "facts").map(({ data }) => data as Facts);
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(response: Response): Promise<void> {
    let text = "";
    try {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        const parts = (text + chunk).split("\n\n");
        text = parts.pop() ?? "";
        for (const part of parts) if (!part.startsWith(":")) this.told.push(parse(part));
      }
      this.isOver = true;
    } catch {
      // Closed by the test.
    }
  }
}

function parse(part: string): Told {
  const field = (name: string): string | null => new RegExp(`^${name}: (.*)$`, "m").exec(part)?.[1] ?? null;
  return { event: field("event") ?? "", id: field("id"), data: JSON.parse(field("data") ?? "null") };
}

const end = async (): Promise<number> => (await page.json<{ position: number }>("/api/overview")).position;
const steer = (text: string): Promise<Response> => page.act({ do: "steer", task: null, text });

test("a page that has just come hears where the log is, then every fact, with its position", async () => {
  const before = await end();
  const listening = await Listening.open(page, "/api/events");
  await until("it is told", () => listening.told.length === 1);
  expect(listening.told[0]).toEqual({
    event: "facts",
    id: String(before),
    data: { position: before, types: [], tasks: [], iterations: [] },
  });
  // Another process does it.
  await project.ralph("decide", "one", "red");
  await until("it is told again", () => listening.told.length === 2);
  expect(listening.told[1]).toEqual({
    event: "facts",
    id: String(before + 1),
    data: { position: before + 1, types: ["question.answered"], tasks: ["one"], iterations: [] },
  });
  listening.close();
});

test("after a reconnection nothing is lost and nothing comes twice", async () => {
  const first = await Listening.open(page, "/api/events");
  await until("it is told", () => first.told.length === 1);
  await steer("one");
  await until("it is told again", () => first.told.length === 2);
  first.close();
  const seen = first.told[1]?.id ?? "";
  await steer("two");
  await steer("three");
  const again = await Listening.open(page, "/api/events", { "last-event-id": seen });
  await until("it is told what it missed", () => again.facts().at(-1)?.position === Number(seen) + 2);
  expect(again.facts()[0]).toMatchObject({ types: ["steer.given"] });
  await steer("four");
  await until("it goes on", () => again.facts().at(-1)?.position === Number(seen) + 3);
  again.close();
});

test("who has seen an overview may begin after it", async () => {
  const seen = await end();
  await steer("meanwhile");
  const listening = await Listening.open(page, `/api/events?after=${seen}`);
  await until("it is told", () => listening.told.length === 1);
  expect(listening.facts()).toEqual([
    { position: seen + 1, types: ["steer.given"], tasks: [], iterations: [] },
  ]);
  listening.close();
});

test("the whole log is told to who asks for it, in few words", async () => {
  const listening = await Listening.open(page, "/api/events", { "last-event-id": "0" });
  await until("it is told", () => listening.told.length === 1);
  expect(listening.facts()[0]).toMatchObject({ position: await end(), tasks: ["one"], iterations: [1] });
  expect(listening.facts()[0]?.types).toEqual(expect.arrayContaining(["run.started", "verdict.reached"]));
  listening.close();
});

test("who has seen more than there is asks for everything anew", async () => {
  const listening = await Listening.open(page, "/api/events", { "last-event-id": "99999" });
  await until("it is told", () => listening.told.length === 1);
  expect(listening.facts()[0]).toEqual({ position: await end(), types: [], tasks: [], iterations: [] });
  listening.close();
});

test("what agents do right now is told when it changes, to all who listen", async () => {
  const listeners = [await Listening.open(page, "/api/events"), await Listening.open(page, "/api/events")];
  const lane: LiveProgress = {
    iteration: 1,
    task: "one",
    elapsedSeconds: 5,
    timeoutSeconds: 60,
    currentFile: "a.ts",
    lastTool: "Edit",
    toolCalls: 1,
    filesTouched: 1,
    costUsd: null,
  };
  progress = [lane];
  for (const { told } of listeners) {
    await until("it is told", () => told.some(({ event }) => event === "progress"));
    expect(told.find(({ event }) => event === "progress")).toEqual({
      event: "progress",
      id: null,
      data: [lane],
    });
  }
  progress = [];
  for (const { told } of listeners)
    await until("it is over", () => JSON.stringify(told.at(-1)?.data) === "[]");
  for (const one of listeners) one.close();
});

test("the log is looked at while a page is open, and by nobody when all are closed", async () => {
  let looks = 0;
  const { ports } = page;
  const counted = await openPage(project.root, {
    ports: { ...ports, log: () => ((looks += 1), ports.log()) },
  });
  const listeners = await Promise.all([1, 2, 3].map(() => Listening.open(counted, "/api/events")));
  await until("it is looked at", () => looks > 20);
  for (const one of listeners) one.close();
  await until("nobody looks any more", async () => {
    const before = looks;
    await new Promise((resolve) => setTimeout(resolve, 700));
    return looks === before;
  });
  await counted.stop();
});

test("when the server stops, streams end as they should", async () => {
  const stopping = await openPage(project.root);
  const listening = await Listening.open(stopping, "/api/events");
  await until("it is told", () => listening.told.length === 1);
  await stopping.stop();
  await until("it is over", () => listening.isOver);
});
