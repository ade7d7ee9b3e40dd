import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mayHaveQueue } from "../../src/app/project.ts";
import { complaint, load } from "./config-folder.ts";

const URL = "postgres://ralph:correct-horse@db.example.org/ralph";

describe("[queue]", () => {
  test("is off, with half a minute for a lease", async () => {
    expect((await load({})).config.queue).toEqual({ url: "", lease: 30_000 });
  });

  test("has an address and a lease", async () => {
    const { config } = await load({ ".ralph/ralph.toml": `[queue]\nurl = "${URL}"\nlease = "2s"\n` });
    expect(config.queue).toEqual({ url: URL, lease: 2_000 });
  });

  test("an empty variable turns it off, another one is stronger than the file", async () => {
    const files = { ".ralph/ralph.toml": `[queue]\nurl = "${URL}"\n` };
    expect((await load(files, { RALPH_QUEUE_URL: "" })).config.queue.url).toBe("");
    const other = "postgresql:///ralph?host=/run/postgresql";
    expect((await load(files, { RALPH_QUEUE_URL: other })).config.queue.url).toBe(other);
  });

  test.each(["1s", "61m", "0", "soon"])("a lease of %s is refused, wherever it is written", async (lease) => {
    const wanted = 'expected a duration from "2s" to "1h"';
    expect(await complaint({ ".ralph/ralph.toml": `[queue]\nlease = "${lease}"\n` })).toContain(
      `ralph.toml:2: "queue.lease": ${wanted}`,
    );
    expect(await complaint({}, { RALPH_QUEUE_LEASE: lease })).toContain(
      `RALPH_QUEUE_LEASE is "${lease}"; ${wanted}`,
    );
  });

  test.each(["mysql://ralph:correct-horse@db/x", "ralph:correct-horse@db", "postgres:/u:correct-horse@db"])(
    "%s is refused and not repeated",
    async (url) => {
      for (const said of [
        await complaint({ ".ralph/ralph.toml": `[queue]\nurl = "${url}"\n` }),
        await complaint({}, { RALPH_QUEUE_URL: url }),
      ]) {
        expect(said).toContain("expected the address of a Postgres database");
        expect(said).not.toContain("correct-horse");
      }
    },
  );
});

describe("whether there may be one", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "ralph-queue-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test.each<[string, string, boolean]>([
    ["ralph.toml", '[queue]\nurl = "x"\n', true],
    ["ralph.toml", 'queue = { url = "x" }\n', true],
    ["ralph.toml", 'queue.url = "x"\n', true],
    ["ralph.json", '{"queue": {"url": "x"}}', true],
    ["ralph.toml", "[run]\nmax_stuck = 3\n", false],
    ["config.yaml", "queue: 1\n", false],
  ])("%s with %j: %s", (name, text, may) => {
    writeFileSync(join(folder, name), text);
    expect(mayHaveQueue(folder, {})).toBe(may);
    expect(mayHaveQueue(folder, { RALPH_QUEUE_URL: URL })).toBe(true);
    expect(mayHaveQueue(folder, { RALPH_QUEUE_URL: " " })).toBe(false);
  });

  test("without a file there is none", () => {
    expect(mayHaveQueue(join(folder, "none"), {})).toBe(false);
  });
});
