import { chromium, type Browser, type Page } from "playwright-core";

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Less than a test has, so that it can say what it waited for. */
const PATIENCE_MS = 60_000;

export async function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGUMENTS });
}

export interface Look {
  readonly width: number;
  readonly scheme: "light" | "dark";
}

export interface OpenPage {
  readonly page: Page;
  /** What the browser complained of: errors, and what the policy forbids. */
  readonly complaints: string[];
}

export async function openPage(browser: Browser, { width, scheme }: Look): Promise<OpenPage> {
  const isPhone = width < 600;
  const context = await browser.newContext({
    viewport: { width, height: isPhone ? 844 : 900 },
    colorScheme: scheme,
    reducedMotion: "reduce",
    timezoneId: "UTC",
    ...(isPhone && { hasTouch: true, isMobile: true }),
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return { page, complaints };
}
