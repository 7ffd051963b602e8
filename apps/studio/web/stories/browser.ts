// A reader's Chromium, for the stories: STUDIO_URL is the address that `qkv view --no-open` prints.

import axe from "axe-core/axe.min.js?raw";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";

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

/** The browser of the stories of one file, to be called where they are described: opens the studio at a fragment, and in
 * the end fails if any of its pages has complained. `ready` is what a page shows once it can be read. */
export function reader(ready?: string): (fragment?: string, options?: BrowserContextOptions) => Promise<Studio> {
  let browser: Browser;
  const opened: Studio[] = [];
  beforeAll(async () => void (browser = await openBrowser()));
  afterAll(async () => {
    await browser.close();
    expect(opened.flatMap((studio) => studio.complaints)).toEqual([]);
  });
  return async (fragment = "", options = {}) => {
    const studio = await openStudio(browser, fragment, options);
    opened.push(studio);
    if (ready) await studio.page.locator(ready).first().waitFor();
    return studio;
  };
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

  /** What axe-core finds. */
  async findings(): Promise<string[]> {
    await this.page.evaluate(axe);
    const run = "axe.run().then((r) => r.violations.map((v) => v.id + ': ' + (v.nodes[0]?.html ?? '')))";
    return this.page.evaluate<string[]>(run);
  }

  /** Whether the page is no wider than its window. */
  async fits(): Promise<boolean> {
    return this.page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);
  }

  /** Where a cell of a picture of a matrix lies in it: its middle. */
  async middleOf(picture: string, row: number, column: number): Promise<{ x: number; y: number }> {
    const text = await this.page.locator(`${picture} .heatmap-pane`).first().getAttribute("data-cells");
    const [left = 0, top = 0, wide = 0, tall = 0] = (text ?? "").split(",").map(Number);
    return { x: left + (column + 0.5) * wide, y: top + (row + 0.5) * tall };
  }
}
