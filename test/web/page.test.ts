import type { WorkerRow } from "../../src/core/views/status.ts";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { bundlePage } from "../../scripts/bundle-page.ts";
import { openBrowser, openPage, type Look, type OpenPage } from "./browser.ts";
import { BIG_RUN, HOSTILE, ROWS, RUN } from "./page-data.ts";
import { servePage, type PageServer } from "./page-server.ts";

/** A folder for pictures of every page, for people to look at. */
const SHOTS = process.env["PAGE_SHOTS"];
const DESK: Look = { width: 1280, scheme: "light" };
const PLACES = {
  board: "/",
  runs: "/runs",
  run: `/runs/${RUN}`,
  iteration: "/iterations/10031",
  charts: "/charts",
  inbox: "/inbox",
} as const;

let server: PageServer;
let browser: Browser;
let scratch: string;
const opened: Page[] = [];

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "ralph-page-"));
  await bundlePage(scratch);
  [server, browser] = await Promise.all([servePage(scratch), openBrowser()]);
});

afterEach(async () => {
  for (const page of opened.splice(0)) await page.context().close();
  await server.stop();
  server = await servePage(scratch);
});

afterAll(async () => {
  await browser.close();
  await server.stop();
  rmSync(scratch, { recursive: true, force: true });
});

async function open(path: string, look: Look = DESK): Promise<OpenPage> {
  const one = await openPage(browser, look);
  opened.push(one.page);
  await one.page.goto(`${server.url}${path}`);
  await one.page.locator("main h1").first().waitFor();
  return one;
}

describe.each([390, 768, 1280, 2560])("at %i pixels", (width) => {
  test.each(["light", "dark"] as const)("every page is whole and accessible, %s", async (scheme) => {
    const { page, complaints } = await open("/", { width, scheme });
    for (const [name, path] of Object.entries(PLACES)) {
      await page.goto(`${server.url}${path}`);
      await page.locator("main h1").first().waitFor();
      await page.locator(".loading").first().waitFor({ state: "detached" });
      await page.screenshot({
        path: join(SHOTS ?? scratch, `${name}-${width}-${scheme}.png`),
        fullPage: true,
      });
      await expect
        .poll(() => page.evaluate("document.documentElement.scrollWidth - innerWidth"))
        .toBeLessThanOrEqual(0);
      expect({ name, findings: await seriousFindings(page) }).toEqual({ name, findings: [] });
    }
    expect(complaints).toEqual([]);
  });
});

async function seriousFindings(page: Page): Promise<unknown> {
  // Through the debugger: the policy of the page forbids scripts of others.
  const debug = await page.context().newCDPSession(page);
  await debug.send("Runtime.evaluate", { expression: axe.source });
  await debug.detach();
  return page.evaluate(
    `axe.run().then(({ violations }) => violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`,
  );
}

test("the page is small, and asks for nothing from elsewhere", async () => {
  const files = ["index.html", "app.js", "app.css"].map((name) => join(scratch, name));
  const gzipped = files.map((path) => gzipSync(readFileSync(path)).length).reduce((sum, size) => sum + size);
  expect(gzipped).toBeLessThan(60_000);
  const { page } = await openPage(browser, DESK);
  opened.push(page);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).origin));
  await page.goto(server.url);
  await page.getByRole("heading", { name: "Waits for you" }).waitFor();
  expect(new Set(asked.filter((origin) => origin !== "null"))).toEqual(new Set([server.url]));
});

test("the board says how the run stands, who works, and what waits", async () => {
  const { page } = await open("/");
  await expectText(page, "main h1", "Running");
  await expectText(page, ".facts", "39/100");
  await expectText(page, ".bars", "34 of 40");
  await expectText(page, ".bars", "$17.30 for the whole plan");
  await expectText(page, ".lanes", "Slot 1: coder · auth-002 · iteration 3/15 · 5m");
  const column = page.getByRole("region", { name: "Coder, 2" });
  await expect.poll(() => column.textContent()).toContain("Coder (3/15)");
  await expect.poll(() => column.textContent()).toContain("src/auth/refresh.ts");
  await expect.poll(() => page.locator(".log-lines li").count()).toBe(20);
  await page.getByRole("button", { name: "Earlier" }).click();
  await expect.poll(() => page.locator(".log-lines li").count()).toBe(60);
});

test("with the keyboard alone a question is answered", async () => {
  const { page } = await open("/");
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await page.getByRole("heading", { name: "Inbox", exact: true }).waitFor();
  await tabTo(page, "all");
  await page.keyboard.press("Enter");
  await page.locator(".inbox-settled", { hasText: "ui-004 is answered: all" }).waitFor();
  await page.getByText("ui-004 asks").waitFor({ state: "detached" });
  expect(server.acts).toEqual([{ do: "decide", task: "ui-004", answer: "all" }]);
  await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("inbox-title");
});

async function tabTo(page: Page, name: string): Promise<void> {
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate("document.activeElement.textContent")) === name) return;
  }
  throw new Error(`Tab never came to "${name}"`);
}

test("an answer in own words, an unblocking with its reason and a message reach the server", async () => {
  const { page } = await open("/");
  await page.getByLabel("Answer ui-004 in your own words").fill("one, but ask first");
  await page.keyboard.press("Enter");
  await page.getByText("ui-004 asks").waitFor({ state: "detached" });
  await page.getByLabel("Why db-007 is no longer blocked").fill("eslint is there");
  await page.getByRole("button", { name: "Unblock db-007" }).click();
  await page.locator("h1").first().hover();
  await page.getByRole("heading", { name: "Waits for you" }).waitFor({ state: "detached" });
  await page.getByLabel("Tell whoever works next").fill("small steps");
  await page.getByRole("button", { name: "Tell", exact: true }).click();
  await page.getByText("✔ The agent is told.").waitFor();
  await page.getByRole("button", { name: "Steer api-011" }).click();
  await page.getByLabel("Tell the agent of api-011").fill("use the RFC");
  await page.keyboard.press("Enter");
  await page.getByText("✔ The agent is told.").nth(1).waitFor();
  expect(server.acts).toEqual([
    { do: "decide", task: "ui-004", answer: "one, but ask first" },
    { do: "unblock", task: "db-007", reason: "eslint is there" },
    { do: "steer", task: null, text: "small steps" },
    { do: "steer", task: "api-011", text: "use the RFC" },
  ]);
});

test("cancelling is asked about in place, and a refusal is shown there", async () => {
  const { page } = await open("/");
  await page.getByRole("button", { name: "Cancel auth-002" }).click();
  await page.getByRole("button", { name: "Yes" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Yes" }).waitFor({ state: "detached" });
  expect(server.acts).toEqual([]);
  await page.getByRole("button", { name: "Cancel auth-002" }).click();
  await page.getByRole("group", { name: "Cancel auth-002?" }).getByRole("button", { name: "Yes" }).click();
  await page.getByText("✗ Nobody works on it right now.").waitFor();
  expect(server.acts).toEqual([{ do: "cancel", task: "auth-002" }]);
});

test("a button that cannot be used says why; who may only look has none", async () => {
  const { page } = await open("/");
  server.set((known) => ({ ...known, isDriven: false }));
  const stop = page.getByRole("button", { name: "Stop the run" });
  await page.locator('button[aria-disabled="true"]').first().waitFor();
  await stop.focus();
  await page.getByText("No run is under way.").first().waitFor();
  await stop.click({ force: true });
  expect(server.acts).toEqual([]);
  server.set((known) => ({ ...known, mayAct: false }));
  await stop.waitFor({ state: "detached" });
  await expect.poll(() => page.locator("main").getByRole("button").allTextContents()).toEqual(["Earlier"]);
});

test("workers are shown with what they do, and one that vanished clearly as such", async () => {
  server.set((known) => ({
    ...known,
    workers: [
      worker("build-3", known.now, { holds: ["@keeper", "auth-001", "auth-002"] }),
      worker("build-4", known.now - 95_000, { is: "vanished" }),
      worker("laptop-1", known.now - 3_600_000, { is: "gone" }),
    ],
  }));
  const { page } = await open("/");
  const panel = page.getByRole("region", { name: "1 worker here" });
  await panel.getByText("works on auth-001, auth-002, keeps the queue").waitFor();
  await panel.getByText(/vanished: not heard of for 1m \d+s/).waitFor();
  await panel.getByText(/left 1h/).waitFor();
  server.set((known) => ({ ...known, workers: [] }));
  await page.getByRole("region", { name: "No worker is here" }).getByText("ralph worker").waitFor();
});

function worker(id: string, seen: number, more: Partial<WorkerRow> = {}): WorkerRow {
  const about = { host: `${id}.example.org`, lanes: 4, labels: ["os:linux"], since: seen - 60_000, seen };
  return { id, ...about, is: "here", holds: [], ...more };
}

test("an empty project is told the next command", async () => {
  server.set((known) => ({
    ...known,
    status: { ...known.status, run: null, tasks: [], inbox: [], messages: [] },
    board: { columns: [] },
    lanes: [],
    tail: [],
    hint: "ralph run",
  }));
  const { page } = await open("/");
  await expectText(page, "main h1", "No run yet. Next: ralph run");
  await expectText(page, ".empty", "ralph run");
});

test("ten thousand iterations open at once, scroll to the last and can be filtered", async () => {
  const { page } = await open(`/runs/${BIG_RUN}`);
  const list = page.getByRole("rowgroup", { name: "Iterations, the newest first" });
  await list.getByRole("link", { name: "Iteration 10000" }).waitFor();
  await expect.poll(() => page.locator(".grid-body .grid-row").count()).toBeLessThan(80);
  await page.evaluate(`document.querySelector(".grid-body").scrollTo(0, 1e9)`);
  await list.getByRole("link", { name: "Iteration 1", exact: true }).waitFor();
  await expect.poll(() => page.locator(".grid-body .grid-row").count()).toBeLessThan(80);
  await page.keyboard.press("/");
  await page.getByLabel("Verdict").selectOption("rejected");
  await page.waitForURL(/verdict=rejected/);
  await page.locator(".grid-body .verdict.is-accepted").first().waitFor({ state: "detached" });
  await page.reload();
  await page.locator(".grid-body .verdict.is-rejected").first().waitFor();
  await expect.poll(() => page.getByLabel("Verdict").inputValue()).toBe("rejected");
});

test("the time line is zoomed and walked by keys, and leads to an iteration", async () => {
  const { page, complaints } = await open(`/runs/${RUN}`);
  const line = page.getByRole("application");
  await line.focus();
  const wholeRange = await page.locator(".timeline-range").textContent();
  await page.keyboard.press("+");
  await expect.poll(() => page.locator(".timeline-range").textContent()).not.toBe(wholeRange);
  await page.keyboard.press("0");
  await page.keyboard.press("ArrowDown");
  await page.locator(".tip").waitFor();
  await line.hover({ position: { x: 400, y: 100 } });
  await page.mouse.wheel(0, -400);
  await expect.poll(() => page.locator(".timeline-range").textContent()).not.toContain("now");
  await line.focus();
  await page.keyboard.press("0");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/iterations\/\d+$/);
  expect(complaints).toEqual([]);
});

test("what agents wrote is text and nothing else", async () => {
  const { page, complaints } = await open("/iterations/10031");
  await page.getByText(HOSTILE.slice(0, 40)).first().waitFor();
  await page.locator("summary", { hasText: "Prompt" }).click();
  await page.getByLabel("Prompt").getByText("Work on this task only.").waitFor();
  await expect.poll(() => page.locator("main img, main script, main iframe").count()).toBe(0);
  await expect.poll(() => page.locator('main a[href^="javascript"]').count()).toBe(0);
  await expect.poll(() => page.title()).toContain("Iteration 10031");
  expect(complaints).toEqual([]);
});

test("a transcript is searched as a whole, and both of its ends are near", async () => {
  const { page } = await open("/iterations/10031");
  await page.locator(".entry").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("needle");
  await page.keyboard.press("Enter");
  await page.locator(".entry.is-hit", { hasText: "here is the needle" }).waitFor();
  await expectText(page, ".search-count", "1 of 1 place");
  await page.getByRole("button", { name: "End" }).click();
  await page.getByText("<promise>COMPLETE</promise>").waitFor();
  await expectText(page, ".transcript-entries", "$1.25");
  await page.getByRole("button", { name: "Start" }).click();
  await page.locator(".entry", { hasText: "<img src=x" }).first().waitFor();
});

test("a transcript shows calls that unfold, edits as diffs, thoughts folded and errors marked", async () => {
  const { page, complaints } = await open("/iterations/10031");
  const entry = (text: string) => page.locator(".entry", { hasText: text }).first();
  await entry("Thinking").waitFor();
  await expect.poll(() => page.getByText("how they are signed first").isVisible()).toBe(false);
  await entry("Thinking").locator("summary").click();
  await page.getByText("how they are signed first").waitFor();
  await expectText(page, ".entry-diff .is-added", "usedAt");
  await expectText(page, ".entry-diff .is-removed", "token: string");
  await expectText(page, ".entry.is-bad summary", "✗ Exit code 1");
  await page.locator(".entry.is-bad summary").click();
  await page.locator(".entry.is-bad pre", { hasText: "expected 401, got 200" }).waitFor();
  await expectText(page, ".entry-margin time", "02:40:05");
  expect(complaints).toEqual([]);
});

test("of a long transcript only a part is loaded, more when somebody scrolls, and what is seen stays", async () => {
  const { page } = await open("/iterations/10031");
  const asked: URL[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/transcript")) asked.push(new URL(request.url()));
  });
  await page.reload();
  await page.locator(".entry").nth(20).waitFor();
  expect(asked.length).toBeLessThan(4);
  for (const url of asked) expect(Number(url.searchParams.get("limit"))).toBeLessThanOrEqual(64_000);
  const scroll = (how: string): Promise<unknown> =>
    page.evaluate(`document.querySelector(".transcript-entries").${how}`);
  const loaded = asked.length;
  await scroll("scrollTo(0, 1e9)");
  await expect.poll(() => asked.length).toBeGreaterThan(loaded);
  for (let step = 0; step < 30; step += 1) {
    await scroll("scrollTo(0, 1e9)");
    await page.waitForTimeout(50);
  }
  await expect.poll(() => page.locator(".entry").count()).toBeLessThan(4_000);
  await page.getByRole("button", { name: "End" }).click();
  await page.getByText("<promise>COMPLETE</promise>").waitFor();
  const place = async () => (await page.getByText("<promise>COMPLETE</promise>").boundingBox())?.y ?? 0;
  await scroll("scrollTo(0, 1e9)");
  const before = await place();
  await scroll("scrollBy(0, -10)");
  const later = await place();
  expect(Math.abs(later - before)).toBeLessThan(20);
});

test("an iteration shows its gates, its change set and its neighbours", async () => {
  const { page } = await open("/iterations/10014");
  await expectText(page, ".gates", "expected 401, got 200");
  await expectText(page, ".line.is-added", "A token is good for one use.");
  await expectText(page, ".line.is-removed", "one hour");
  await expect.poll(() => page.locator(".code b").count()).toBe(0);
  await page.getByText("src/auth/refresh.test.ts").click();
  await page.getByText('test("case 0"').waitFor();
  await page.getByRole("link", { name: "Next →" }).click();
  await page.getByRole("heading", { name: "Iteration 10015" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Iteration 10014" }).waitFor();
});

test("an accepted iteration shows its concerns, its reader, the old checks and its certificate", async () => {
  const accepted = ROWS.find(({ verdict }) => verdict === "accepted")?.iteration ?? 0;
  const { page } = await open(`/iterations/${accepted}`);
  const panel = (name: string) => page.getByRole("region", { name, exact: true });
  await panel("Concerns").getByText("harmless, says the second reader.").waitFor();
  await panel("Second reader").getByText("codex, 31s, $0.04").waitFor();
  await panel("Second reader").getByText("criterion 2 cannot be told").waitFor();
  await panel("Gates with the old checks")
    .getByText("As before the task: test/refresh.test.ts; 10s in all")
    .waitFor();
  await panel("Certificate").getByText("tokens rotate – checked by the second reader.").waitFor();
});

test("an iteration that is not there is a sentence", async () => {
  const { page } = await open("/iterations/99999");
  await page.getByText("There is no iteration 99999. Ralph history lists them.").waitFor();
});

test("news come by themselves, are said aloud, and survive a lost connection", async () => {
  const { page } = await open("/");
  const item = {
    task: "api-011",
    kind: "decide",
    options: ["yes"],
    default: null,
    deadline: null,
    iteration: 3,
  } as const;
  server.ask({ ...item, text: "Is 422 right?" });
  await page.locator(".inbox-about", { hasText: "api-011 asks" }).waitFor();
  await expectText(page, "[aria-live]", "api-011 asks: Is 422 right?");
  server.hangUp();
  await page.getByText("reconnecting…").waitFor();
  server.ask({ ...item, task: "ops-004", text: "Which level?" });
  await page.getByText("live", { exact: true }).waitFor();
  await page.locator(".inbox-about", { hasText: "ops-004 asks" }).waitFor();
  await page.reload();
  await page.locator(".inbox-about", { hasText: "ops-004 asks" }).waitFor();
});

test("the time line grows while somebody looks at it", async () => {
  const { page } = await open(`/runs/${RUN}`);
  const spans = page.locator(".timeline-frame .span.is-merge");
  await spans.first().waitFor();
  const before = await spans.count();
  server.grow();
  await expect.poll(() => spans.count()).toBe(before + 1);
});

test("charts say where the budget will be, for the run that was chosen", async () => {
  const { page } = await open("/charts");
  await expectText(page, ".forecast", "At this rate the whole plan costs $17.30. The budget is enough.");
  await expect.poll(() => page.locator(".chart-frame svg").count()).toBe(4);
  await page.getByLabel("Run").selectOption(BIG_RUN);
  await page.waitForURL(/run=/);
  await page.getByRole("img", { name: /^Cost: 10000 values/ }).waitFor();
});

test("the colours that were chosen stay", async () => {
  const { page } = await open("/");
  await expect.poll(() => page.locator("html").getAttribute("data-theme")).toBe("light");
  await page.getByRole("button", { name: /Colours/ }).click();
  await page.getByRole("button", { name: /Colours/ }).click();
  await expect.poll(() => page.locator("html").getAttribute("data-theme")).toBe("dark");
  await page.reload();
  await page.locator('html[data-theme="dark"]').waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("the inbox").waitFor();
});

async function expectText(page: Page, selector: string, text: string): Promise<void> {
  await page.locator(selector).filter({ hasText: text }).first().waitFor();
}
