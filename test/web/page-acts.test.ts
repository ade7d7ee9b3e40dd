import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { bundlePage } from "../../scripts/bundle-page.ts";
import { openBrowser, openPage, type OpenPage } from "./browser.ts";
import { servePage, type PageServer } from "./page-server.ts";

/** A folder for pictures, for people to look at. */
const SHOTS = process.env["PAGE_SHOTS"];

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

async function open(path: string): Promise<OpenPage> {
  const one = await openPage(browser, { width: 1280, scheme: "light" });
  opened.push(one.page);
  await one.page.goto(`${server.url}${path}`);
  await one.page.locator("main h1").first().waitFor();
  return one;
}

async function expectText(page: Page, selector: string, text: string): Promise<void> {
  await page.locator(selector).filter({ hasText: text }).first().waitFor();
}

test("an answer can be taken back, and what was typed is still there", async () => {
  const { page } = await open("/");
  await page.getByLabel("Why db-007 is no longer blocked").fill("eslint is there");
  await page.getByRole("button", { name: "Unblock db-007" }).click();
  const toast = page.locator(".toast", { hasText: "db-007 is unblocked" });
  await toast.getByRole("button", { name: "Take back" }).click();
  await toast.waitFor({ state: "detached" });
  await expect
    .poll(() => page.getByLabel("Why db-007 is no longer blocked").inputValue())
    .toBe("eslint is there");
  await page.getByRole("button", { name: "Unblock db-007" }).click();
  await toast.waitFor();
  // Whoever leaves the page has not taken it back.
  await page.goto("about:blank");
  await expect
    .poll(() => server.acts)
    .toEqual([{ do: "unblock", task: "db-007", reason: "eslint is there" }]);
});

test("what is settled stays in its place until the pointer leaves, and no other button moves", async () => {
  const { page } = await open("/");
  const other = page.getByRole("button", { name: "Unblock db-007" });
  const before = await other.boundingBox();
  await page.getByRole("button", { name: "all", exact: false }).first().hover();
  await page.getByRole("button", { name: /^all/ }).first().click();
  await page.locator(".toast", { hasText: "✔ ui-004 is answered" }).waitFor();
  await expect.poll(() => page.locator("h2 .badge").first().textContent()).toBe("1");
  await page.locator(".inbox-settled", { hasText: "ui-004" }).waitFor();
  expect((await other.boundingBox())?.x).toBe(before?.x);
  await page.locator("h1").first().hover();
  await page.locator(".inbox-settled").waitFor({ state: "detached" });
  await page.getByText("db-007 is blocked").waitFor();
});

test("a run is started from the page, after it has said what would happen", async () => {
  server.set((known) => ({
    ...known,
    isDriven: false,
    status: { ...known.status, run: null, tasks: [], inbox: [], messages: [] },
    board: { columns: [] },
    lanes: [],
    tail: [],
  }));
  const { page, complaints } = await open("/");
  const panel = page.getByRole("region", { name: "Start a run of TODO.md" });
  await panel.getByText("Issue refresh tokens").waitFor();
  await panel.getByText("npm run lint").waitFor();
  await panel.getByText("1 done already.").waitFor();
  await panel.getByLabel("Lanes").fill("2");
  await panel.getByLabel("Budget in $").fill("7.50");
  await panel.getByLabel("Agent").selectOption("codex");
  await panel.getByText("2, in worktrees").waitFor();
  await panel.getByText("$7.50").waitFor();
  await shoot("start");
  await panel.getByRole("button", { name: "Start 2 tasks" }).click();
  await page.locator(".toast", { hasText: "✔ It is done." }).waitFor();
  const wish = { goal: null, tasks: [], agent: "codex", lanes: 2, maxIterations: null, budgetUsd: 7.5 };
  expect(server.posts.at(-1)).toEqual({ path: "/api/runs", body: { ...wish, approve: false } });
  await panel.getByLabel("Add a task to the list").fill("Rotate the keys");
  await page.keyboard.press("Enter");
  await expect
    .poll(() => server.posts)
    .toContainEqual({
      path: "/api/tasks",
      body: { title: "Rotate the keys" },
    });
  await panel.getByLabel("Goal").fill("make it faster");
  await page.getByRole("region", { name: "Start a run of goal" }).getByText("Start 1 task").waitFor();
  expect(complaints).toEqual([]);
});

test("the morning after, the page begins with what came of the run and what it needs", async () => {
  server.set((known) => ({
    ...known,
    isDriven: false,
    lanes: [],
    timeLeftMs: null,
    status: {
      ...known.status,
      run: known.status.run && {
        ...known.status.run,
        state: "ended",
        outcome: "undecided",
        reason: "ui-004 asks",
        ended_at: new Date(Date.parse(known.status.run.started_at) + 22_320_000).toISOString(),
      },
    },
  }));
  const { page, complaints } = await open("/");
  await expectText(page, ".run-summary", "1 asks · 1 blocked");
  await expectText(page, ".run-summary", "6h 12m · $8.42");
  const order = await page.evaluate(
    `[...document.querySelectorAll(".run-summary, .inbox, .run-result, .board")].map(({ className }) => className)`,
  );
  expect(order).toEqual(["run-summary", "panel inbox", "run-result", "board"]);
  await expectText(page, ".run-result .file-path", "src/auth/refresh.ts");
  await page.locator(".run-result .timeline-frame .span").first().waitFor();
  await shoot("morning");
  expect(complaints).toEqual([]);
});

test("while a run goes on, the page says how long the rest may take", async () => {
  const { page } = await open("/");
  await expectText(page, ".bars", "done, about 2h left");
});

/** The page as it is now, in four looks. */
async function shoot(name: string): Promise<void> {
  if (SHOTS === undefined) return;
  const page = opened.at(-1);
  for (const scheme of ["light", "dark"] as const) {
    await page?.emulateMedia({ colorScheme: scheme });
    for (const width of [390, 1280]) {
      await page?.setViewportSize({ width, height: 900 });
      await page?.screenshot({ path: join(SHOTS, `${name}-${width}-${scheme}.png`), fullPage: true });
    }
  }
}
