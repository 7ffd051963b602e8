// What a reader does with two texts as one, in an encoder of others: `qkv view DIR`.

import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBrowser } from "./browser";
import { servedBy, type Served } from "./served";
import { tinyBert } from "./tiny_bert";
import type { Browser } from "playwright-core";

declare const process: { env: Record<string, string | undefined> };
const qkv = process.env["QKV"];

describe.skipIf(!qkv)("pairs of texts (set QKV to the command)", () => {
  let browser: Browser;
  let folder: string;
  let served: Served;
  beforeAll(async () => {
    folder = tinyBert();
    browser = await openBrowser();
    served = await servedBy(qkv!, folder, "--text", "the cat sat down");
  });
  afterAll(async () => {
    served.stop();
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("reads a second text after the first, with a line between, and keeps it in the address", async () => {
    const page = await (await browser.newContext({ reducedMotion: "reduce" })).newPage();
    await page.goto(served.address); // a model opens the page Heads
    await page.locator(".large canvas").first().waitFor();
    const grid = page.locator('.large [role="grid"]');
    expect(await grid.getAttribute("aria-label")).toContain("6 × 6"); // [CLS], four words, [SEP]
    await page.getByLabel("and", { exact: true }).fill("the dog was tired");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector('.large [role="grid"]')?.getAttribute("aria-label")?.includes("11 × 11"));
    expect(page.url()).toContain("context=the+dog+was+tired");
    await page.getByRole("button", { name: "Take along" }).click();
    await page.getByRole("menuitem", { name: /^CSV/ }).waitFor();
    expect(await page.getByRole("menuitem", { name: /^Command/ }).count()).toBe(0); // none reads two texts as one
    await page.keyboard.press("Escape");
    await page.reload();
    await page.waitForFunction(() => document.querySelector('.large [role="grid"]')?.getAttribute("aria-label")?.includes("11 × 11"));
    await page.goBack();
    await page.waitForFunction(() => document.querySelector('.large [role="grid"]')?.getAttribute("aria-label")?.includes("6 × 6"));
  });
});
