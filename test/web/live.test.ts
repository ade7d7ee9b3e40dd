import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import {
  createProject,
  tellToGo,
  TOLD_TO_GO,
  until,
  WORKS,
  type Project,
  type Running,
  type Steps,
} from "../e2e/project.ts";
import { openBrowser, openPage } from "./browser.ts";

const DESK = { width: 1280, scheme: "light" } as const;
const ASKS: Steps = [{ decide: "WebSockets or polling? | sockets | polling" }];
/** Works only if its prompt holds the answer. */
const KNOWS: Steps = [{ expectPrompt: "polling" }, ...WORKS];
const HANGS: Steps = [{ say: "this takes a while" }, { hang: true }];

let browser: Browser;
let project: Project;
let web: Running | null = null;
const pages: Page[] = [];

beforeAll(async () => {
  browser = await openBrowser();
});

afterEach(async () => {
  for (const page of pages.splice(0)) await page.context().close();
  await endWeb();
  project.dispose();
});

afterAll(() => browser.close());

async function startWeb(...flags: readonly string[]): Promise<string> {
  const running = project.start("web", ...flags);
  web = running;
  await until("the address is printed", () => running.stdout().includes("\n"));
  return running.stdout().trim();
}

async function endWeb(): Promise<void> {
  web?.child.kill("SIGINT");
  await web?.finished;
  web = null;
}

async function look(address: string): Promise<{ readonly page: Page; readonly complaints: string[] }> {
  const one = await openPage(browser, DESK);
  pages.push(one.page);
  await one.page.goto(address);
  await one.page.locator("main h1").first().waitFor();
  return one;
}

const TWO_LANES = 'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n';

function twoLanes(
  tasks: Readonly<Record<string, readonly Steps[]>>,
  others: readonly Steps[] = [WORKS],
): void {
  project = createProject({ tasks: Object.keys(tasks), config: TWO_LANES });
  project.script(tasks, others);
  project.commit("script");
}

async function expectText(page: Page, selector: string, text: string): Promise<void> {
  await page.locator(selector).filter({ hasText: text }).first().waitFor();
}

test("before the first run the page tells the command, and shows the run when it begins", async () => {
  twoLanes({ one: [WORKS], two: [WORKS] });
  const { page, complaints } = await look(await startWeb());
  await expectText(page, "main h1", "No run yet. Next: ralph run");
  expect((await project.ralph("run", "--parallel", "2")).code).toBe(0);
  await expectText(page, "main h1", "Completed");
  await expectText(page, '.column[aria-label="Done, 2"]', "one");
  await page.getByRole("link", { name: "Runs" }).click();
  await page.getByRole("cell").getByRole("link").first().click();
  await page.locator(".timeline-frame .span.is-accepted").first().waitFor();
  await page.locator(".grid-body .verdict.is-accepted").first().waitFor();
  await page.locator(".grid-body .cell-number a").first().click();
  await expectText(page, ".why", "Accepted");
  await expectText(page, ".file-path", ".txt");
  await page.locator(".entry").first().waitFor();
  await page.getByRole("link", { name: "Charts" }).click();
  await page.getByRole("img", { name: /^Duration in minutes/ }).waitFor();
  expect(complaints).toEqual([]);
});

test("a run is started from the empty board, and its result is what the page begins with then", async () => {
  twoLanes({ one: [WORKS], two: [WORKS] });
  const { page, complaints } = await look(await startWeb());
  const start = page.getByRole("region", { name: "Start a run of TODO.md" });
  await start.getByText("make two").waitFor();
  await start.getByLabel("Add a task to the list").fill("third");
  await page.keyboard.press("Enter");
  await start.getByRole("button", { name: "Start 3 tasks" }).click();
  await page.locator(".toast", { hasText: "The run has begun" }).waitFor();
  await page.locator(".run-summary", { hasText: "3 done" }).waitFor();
  await expectText(page, ".run-result .file-path", "two.txt");
  await page.locator(".run-result .timeline-frame .span.is-accepted").first().waitFor();
  await shoot(page, "result");
  await page.locator(".card", { hasText: "make two" }).getByRole("link").first().click();
  await page.getByRole("button", { name: "Edit title" }).click();
  await page.getByLabel("Title of two").fill("make two, well");
  await page.keyboard.press("Enter");
  await expectText(page, "h1", "make two, well");
  await shoot(page, "title");
  expect(project.read("TODO.md")).toBe(
    "# Tasks\n\n- [x] **one**: make one\n- [x] **two**: make two, well\n- [x] third\n",
  );
  expect(complaints).toEqual([]);
});

test("the page of all projects leads to the page of one", async () => {
  twoLanes({ one: [WORKS] });
  expect((await project.ralph("run")).code).toBe(0);
  const { page, complaints } = await look(await startWeb("--all"));
  const entry = page.getByRole("listitem").filter({ hasText: project.root });
  await entry.getByText("completed").waitFor();
  await entry.getByText("1/1").waitFor();
  await shoot(page, "projects");
  await entry.getByRole("link").click();
  await expectText(page, "main h1", "Completed");
  expect(complaints).toEqual([]);
});

/** For people to look at. */
async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env["PAGE_SHOTS"];
  if (folder === undefined) return;
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
}

test("an answer given in one browser reaches the agent's next prompt, and the other browser knows", async () => {
  twoLanes({ asks: [ASKS, KNOWS], busy: [HANGS] });
  const address = await startWeb();
  const [first, second] = await Promise.all([look(address), look(address)]);
  const run = project.start("run", "--parallel", "2");
  for (const { page } of [first, second]) {
    await page.locator(".inbox-about", { hasText: "asks" }).waitFor();
    await page.locator(".card.is-live", { hasText: "busy" }).waitFor();
  }
  await first.page.getByRole("button", { name: "polling" }).click();
  for (const { page } of [first, second]) {
    await page.locator(".inbox-about", { hasText: "asks" }).waitFor({ state: "detached" });
    await expectText(page, '.column[aria-label="Done, 1"]', "asks");
  }
  await first.page.getByRole("button", { name: "Cancel busy" }).click();
  await first.page.getByRole("button", { name: "Yes" }).click();
  await second.page.locator(".card.is-cancelled", { hasText: "busy" }).waitFor();
  await run.finished;
  for (const { page } of [first, second]) {
    await page.locator(".run-sentence.is-good").waitFor();
    expect(await page.locator(".column-title").allTextContents()).toEqual(
      await first.page.locator(".column-title").allTextContents(),
    );
  }
  expect(project.read("asks.txt")).toBe("asks\n");
  expect([...first.complaints, ...second.complaints]).toEqual([]);
});

test("the time line grows, and neither a reload nor a restart of the server loses anything", async () => {
  twoLanes({ asks: [ASKS, KNOWS], busy: [HANGS], third: [WORKS] });
  const address = await startWeb();
  const run = project.start("run", "--parallel", "2");
  const { page } = await look(address);
  await page.locator(".inbox-about", { hasText: "asks" }).waitFor();
  await page.getByRole("link", { name: "Runs" }).click();
  await page.getByRole("cell").getByRole("link").first().click();
  const spans = page.locator(".timeline-frame .span.is-link");
  await page.locator(".timeline-frame .span.is-running").first().waitFor();
  await page.locator(".timeline-frame .span.is-decide").first().waitFor();
  const before = await spans.count();
  const { port, searchParams } = new URL(address);
  await endWeb();
  await page.getByText("reconnecting…").waitFor();
  expect((await project.ralph("decide", "asks", "polling")).code).toBe(0);
  await startWeb("--port", port, "--token", searchParams.get("token") ?? "");
  await page.getByText("live", { exact: true }).waitFor();
  await expect.poll(() => spans.count()).toBeGreaterThan(before);
  const whole = await page.locator(".grid-body .cell-number").allTextContents();
  await page.reload();
  await page.locator(".grid-body .cell-number").first().waitFor();
  // A further iteration may have begun meanwhile.
  await expect
    .poll(() => page.locator(".grid-body .cell-number").allTextContents())
    .toEqual(expect.arrayContaining(whole));
  await page.getByRole("link", { name: "Board" }).click();
  await page.getByRole("button", { name: "Cancel busy" }).click();
  await page.getByRole("button", { name: "Yes" }).click();
  await run.finished;
  await page.locator(".run-sentence.is-good").waitFor();
});

test("a running transcript is followed, and a message for the agent is told", async () => {
  twoLanes({ talks: [[{ say: "first words" }, TOLD_TO_GO, { say: "last words" }, ...WORKS]] });
  const address = await startWeb();
  const run = project.start("run");
  const { page, complaints } = await look(address);
  await page.locator(".card.is-live", { hasText: "talks" }).waitFor();
  await page.getByRole("button", { name: "Steer talks" }).click();
  await page.getByLabel("Tell the agent of talks").fill("keep it short");
  await page.keyboard.press("Enter");
  await page.getByText("✔ The agent of talks is told.").waitFor();
  await expectText(page, ".messages", "keep it short");
  await page
    .locator(".card.is-live")
    .getByRole("link", { name: /iteration/ })
    .click();
  await page.locator(".entry", { hasText: "first words" }).waitFor();
  tellToGo(project);
  await page.locator(".entry", { hasText: "last words" }).waitFor();
  await page.locator(".page-title .verdict.is-accepted").waitFor();
  await run.finished;
  expect(complaints).toEqual([]);
});
