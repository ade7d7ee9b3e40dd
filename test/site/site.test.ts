import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { buildSite } from "../../scripts/site/build-site.ts";
import { contentsOf } from "../../scripts/site/contents.ts";
import { openBrowser, openPage, type Look } from "../web/browser.ts";

const ROOT = join(import.meta.dirname, "..", "..");
/** A folder for pictures, for people to look at. */
const SHOTS = process.env["SITE_SHOTS"];
const DESK: Look = { width: 1400, scheme: "light" };
const PHONE = 360;

let site: string;
let urls: readonly string[];
let browser: Browser;
const opened: { readonly page: Page; readonly complaints: readonly string[] }[] = [];

beforeAll(async () => {
  site = mkdtempSync(join(tmpdir(), "ralph-site-"));
  buildSite(ROOT, site);
  urls = globSync("**/*.html", { cwd: site }).toSorted();
  browser = await openBrowser();
});

/** Whatever a test was about: no page complains. */
afterEach(async () => {
  const all = opened.splice(0);
  for (const { page } of all) await page.context().close();
  expect(all.flatMap(({ complaints }) => complaints)).toEqual([]);
});

afterAll(async () => {
  await browser.close();
  rmSync(site, { recursive: true, force: true });
});

async function open(url: string, look: Look = DESK): Promise<Page> {
  const one = await openPage(browser, look);
  opened.push(one);
  await one.page.goto(addressOf(url));
  return one.page;
}

function addressOf(url: string): string {
  return pathToFileURL(join(site, url)).href;
}

function read(url: string): string {
  return readFileSync(join(site, url), "utf8");
}

test("every page of the documentation has its place, and only one", () => {
  const files = contentsOf(ROOT).flatMap((group) => group.files);
  expect(files.toSorted()).toEqual([...new Set(files)].toSorted());
  expect(files).toEqual(expect.arrayContaining(globSync("docs/**/*.md", { cwd: ROOT })));
  expect(urls.length).toBeGreaterThan(files.length);
});

test("every link leads to a page, and to a heading that is there", () => {
  const ids = new Map(
    urls.map((url) => [url, new Set([...read(url).matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id))]),
  );
  const broken = urls.flatMap((url) =>
    [...read(url).matchAll(/ (?:href|src)="([^"]+)"/g)].flatMap(([, target = ""]) => {
      if (/^(?:https?|mailto):/.test(target)) return [];
      const [path = "", anchor = ""] = target.split("#");
      const to = path === "" ? url : relative(site, resolve(site, dirname(url), path));
      const isThere = to.endsWith(".html") ? ids.has(to) : globSync(to, { cwd: site }).length === 1;
      const isFound = anchor === "" || ids.get(to)?.has(decodeURIComponent(anchor)) === true;
      return isThere && isFound ? [] : [`${url}: ${target}`];
    }),
  );
  expect(broken).toEqual([]);
});

test("it loads nothing from elsewhere, and nothing that browsers refuse to files", () => {
  for (const url of urls) expect(read(url)).not.toMatch(/ src="https?:|<link[^>]*https?:|type="module"/);
  expect(read("site.js")).not.toMatch(/\bfetch\(|XMLHttpRequest|\bimport\b/);
});

test("tables, code and comments of the Markdown are none any more", () => {
  for (const url of urls)
    expect(read(url).replaceAll(/<pre[\s\S]*?<\/pre>/g, "")).not.toMatch(/\| -{3}|```|<!--/);
});

test("no page is wider than a phone", async () => {
  const page = await open("index.html", { width: PHONE, scheme: "light" });
  const texts = urls.map((url) => [url, /<main[\s\S]*<\/main>/.exec(read(url))?.[0] ?? ""]);
  const wide = await page.evaluate(
    `${JSON.stringify(texts).replaceAll(/src=\\"[^"]*\\"/g, "")}.filter(([, text]) => {
      document.querySelector("main").outerHTML = text;
      return document.documentElement.scrollWidth > ${PHONE};
    }).map(([url]) => url)`,
  );
  expect(wide).toEqual([]);
  await page.goto(addressOf("reference/configuration.html"));
  await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE);
  await picture(page, "phone");
});

test.each([
  ["light", ["index.html", "guide/getting-started.html"]],
  ["dark", ["guide/getting-started.html"]],
] as const)("it is accessible, %s", async (scheme, some) => {
  const page = await open("index.html", { ...DESK, scheme });
  for (const url of some) {
    await page.goto(addressOf(url));
    expect({ url, findings: await seriousFindings(page) }).toEqual({ url, findings: [] });
    await picture(page, `${url.replaceAll("/", "-")}-${scheme}`);
  }
});

test("on a phone the pages are behind a button", async () => {
  const page = await open("concepts.html", { width: PHONE, scheme: "light" });
  const side = page.locator("#side");
  await expect.poll(() => side.isVisible()).toBe(false);
  await page.locator(".menu").click();
  await expect.poll(() => side.isVisible()).toBe(true);
  await picture(page, "menu");
  await page.keyboard.press("Escape");
  await expect.poll(() => side.isVisible()).toBe(false);
});

test("somebody with a keyboard finds a page", async () => {
  const page = await open("concepts.html");
  await page.keyboard.press("/");
  await page.keyboard.type("adaptive timeout");
  await expect.poll(() => page.locator(".results a").first().textContent()).toContain("Adaptive timeouts");
  expect(await seriousFindings(page)).toEqual([]);
  await picture(page, "search");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/guide\/brakes\.html/);
  await page.keyboard.press("/");
  await page.keyboard.type("budget zzyzx");
  await expect.poll(() => page.locator(".results a").first().textContent()).toContain("budget");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("zzyzx");
  await expect.poll(() => page.locator(".search .count").textContent()).toBe("Nothing found");
  await page.keyboard.press("Escape");
  await expect.poll(() => page.locator("dialog").isVisible()).toBe(false);
});

test("code is copied as it is typed, without what a session shows", async () => {
  const page = await open("guide/getting-started.html");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const session = page.locator('.code[data-language="console"]').first();
  await session.hover();
  await session.locator(".copy").click();
  await expect.poll(() => session.locator(".copy").textContent()).toBe("Copied");
  await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe("ralph init");
});

test("light and dark can be chosen, and stay so on the next page", async () => {
  const page = await open("concepts.html");
  const paper = (): Promise<unknown> => page.evaluate("getComputedStyle(document.body).backgroundColor");
  const light = await paper();
  await page.locator(".theme").click();
  const dark = await paper();
  expect(dark).not.toBe(light);
  await page.locator('.way a[rel="next"]').click();
  await page.waitForURL((url) => !url.href.endsWith("concepts.html"));
  expect(await paper()).toBe(dark);
});

async function picture(page: Page, name: string): Promise<void> {
  if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}

async function seriousFindings(page: Page): Promise<unknown> {
  await page.evaluate(axe.source);
  return page.evaluate(
    `axe.run({ preload: false }).then(({ violations }) => violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => ({ id, where: nodes.slice(0, 3).map(({ html }) => html) })))`,
  );
}
