// A reader's Chromium, for the stories: STUDIO_URL is the address that `qkv view --no-open` prints.

import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

declare const process: { env: Record<string, string | undefined> };

const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const studioUrl = process.env["STUDIO_URL"];

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args: flags });
}

/** A page at a fragment of the studio's address; whatever the page complains of fails the story. */
export async function openStudio(
  browser: Browser,
  fragment = "",
  options: BrowserContextOptions = {},
): Promise<Studio> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: "reduce",
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  await page.goto(`${studioUrl}${fragment}`);
  await page.waitForSelector("main > * > *");
  return new Studio(page, complaints);
}

export class Studio {
  constructor(
    readonly page: Page,
    readonly complaints: string[],
  ) {}

  cell(name: string) {
    return this.page.locator(`td[data-name="${name}"]`).first();
  }

  /** What a cell shows, without what it showed before. */
  async number(name: string): Promise<string> {
    return this.cell(name).locator("> span").innerText();
  }

  async row(matrix: string, row: number, columns: number): Promise<string[]> {
    return Promise.all(Array.from({ length: columns }, (_, column) => this.number(`${matrix}:${row},${column}`)));
  }

  /** Waits until a cell shows a number: replies come when they come. */
  async shows(name: string, text: string): Promise<void> {
    await this.page.waitForFunction(
      ([selector, wanted]) => document.querySelector(selector!)?.querySelector(":scope > span")?.textContent === wanted,
      [`td[data-name="${name}"]`, text],
      { timeout: 5000 },
    );
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** Types a number into an editable cell. */
  async type(name: string, text: string): Promise<void> {
    await this.cell(name).click();
    await this.page.locator(".number-field").fill(text);
    await this.page.keyboard.press("Enter");
  }
}
