// `npm run screenshots`: the pictures of the documentation, taken of a real run with the built-in demo agent. Needs
// chromium and tmux.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { openBrowser } from "../test/web/browser.ts";
import { terminalPage } from "./terminal-page.ts";

const root = join(import.meta.dirname, "..");
const images = join(root, "docs", "images");
const ralph = join(root, "bin", "ralph");
const folder = mkdtempSync(join(tmpdir(), "ralph-screenshots-"));
const shop = join(folder, "shop");
const TOKEN = "a-token-for-the-screenshots";
const PORT = 4711;

async function takePictures(): Promise<void> {
  const running: ChildProcess[] = [];
  try {
    createShop();
    mkdirSync(images, { recursive: true });
    running.push(start("run", "--parallel", "3"));
    await until(() => statusOf("docs-006") === "done" && statusOf("ui-004") === "undecided");
    await photographMonitor();
    running.push(start("web", "--port", String(PORT), "--token", TOKEN));
    await photographPage();
  } finally {
    for (const child of running) child.kill("SIGTERM");
    await sleep(3_000);
    rmSync(folder, { recursive: true, force: true });
  }
}

function createShop(): void {
  mkdirSync(join(shop, ".ralph"), { recursive: true });
  const write = (path: string, text: string): void => writeFileSync(join(shop, path), text);
  write(
    "TODO.md",
    `- [ ] **auth-001**: Issue access tokens
- [ ] **auth-002**: Issue refresh tokens
- [ ] **ui-003**: Sessions page
- [ ] **ui-004**: Revoke sessions
- [ ] **db-005**: Import job
- [ ] **docs-006**: Describe the API
- [ ] **api-007**: Rate limits
- [ ] **api-008**: Paginate the list
`,
  );
  write(
    ".ralph/ralph.toml",
    `agent = "demo"
[agents.demo]
script = ".ralph/script.json"
[limits]
budget_usd = 20
[[gates]]
name = "tests"
command = "test ! -e broken || { echo '✗ refresh rotates token'; exit 1; }"
`,
  );
  write(".ralph/script.json", JSON.stringify({ tasks: SCRIPT, default: [work(2_000, 0.25, "src/docs.md")] }));
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message", "start");
}

type Step = Readonly<Record<string, unknown>>;

function work(ms: number, costUsd: number, path: string, ...more: readonly Step[]): readonly Step[] {
  return [
    { usage: { cost_usd: costUsd } },
    { sleep: ms },
    { write: { path, text: "export const done = true;\n" } },
    ...more,
    { promise: "COMPLETE" },
  ];
}

const SCRIPT: Readonly<Record<string, readonly (readonly Step[])[]>> = {
  "auth-001": [work(1_500, 0.41, "src/access.ts")],
  "auth-002": [
    work(1_800, 0.58, "src/refresh.ts", { write: { path: "broken", text: "" } }),
    work(1_200, 0.3, "src/rotate.ts", { shell: "rm broken" }),
  ],
  "ui-003": [
    [{ usage: { cost_usd: 0.9 } }, { sleep: 2_500 }, { promise: "COMPLETE" }],
    work(1_500, 0.7, "src/sessions.ts"),
  ],
  "ui-004": [
    [
      { usage: { cost_usd: 0.2 } },
      { sleep: 800 },
      { decide: "Revoke one session or all at once? | one | all | default=one | deadline=30m" },
    ],
  ],
  "db-005": [
    [{ usage: { cost_usd: 0.35 } }, { sleep: 900 }, { blocked: "the staging database has no credentials" }],
  ],
  "api-007": [work(120_000, 0.35, "src/limits.ts")],
  "api-008": [work(110_000, 0.35, "src/pages.ts")],
};

async function photographMonitor(): Promise<void> {
  const tmux = (...args: readonly string[]): string =>
    execFileSync("tmux", ["-S", join(folder, "tmux"), ...args], { encoding: "utf8" });
  const session = ["new-session", "-d", "-x", "120", "-y", "36"];
  tmux("-f", "/dev/null", ...session, `cd ${shop} && COLORTERM=truecolor ${ralph} monitor`);
  await until(() => tmux("capture-pane", "-p").includes("Slot 1"));
  await sleep(1_500);
  const page = terminalPage(tmux("capture-pane", "-e", "-p"));
  tmux("kill-server");
  await withBrowser(async (browser) => {
    const tab = await browser.newPage({ viewport: { width: 1_120, height: 720 }, deviceScaleFactor: 1.2 });
    await tab.setContent(page);
    await tab.locator("pre").screenshot({ path: join(images, "monitor.png") });
  });
}

async function photographPage(): Promise<void> {
  await withBrowser(async (browser) => {
    const tab = await browser.newPage({ viewport: { width: 1_280, height: 860 }, colorScheme: "light" });
    const address = `http://127.0.0.1:${PORT}`;
    await until(async () => (await tab.goto(`${address}/?token=${TOKEN}`).catch(() => null)) !== null);
    await tab.getByText("Revoke one session").first().waitFor();
    await tab.screenshot({ path: join(images, "board.png") });
    await tab.goto(`${address}/runs`);
    await tab.locator("main a[href^='/runs/']").first().click();
    await tab.locator("main svg").first().waitFor();
    await sleep(1_000);
    await tab.screenshot({ path: join(images, "run.png") });
  });
}

async function withBrowser(use: (browser: Browser) => Promise<void>): Promise<void> {
  const browser = await openBrowser();
  try {
    await use(browser);
  } finally {
    await browser.close();
  }
}

function start(...args: readonly string[]): ChildProcess {
  return spawn(ralph, args, { cwd: shop, stdio: "ignore" });
}

function statusOf(task: string): string {
  const { tasks } = JSON.parse(
    execFileSync(ralph, ["status", "--json"], { cwd: shop, encoding: "utf8" }),
  ) as {
    tasks: { id: string; status: string }[];
  };
  return tasks.find(({ id }) => id === task)?.status ?? "";
}

function git(...args: readonly string[]): void {
  const identity = ["-c", "user.name=You", "-c", "user.email=you@example.com"];
  execFileSync("git", [...identity, ...args], { cwd: shop });
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries += 1) {
    if (tries > 300) throw new Error("it does not come to what the picture should show");
    await sleep(200);
  }
}

await takePictures();
