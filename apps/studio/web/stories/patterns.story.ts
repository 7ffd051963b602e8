// The page Patterns in a browser: a mask that is mistyped and mended, rows that see nothing, positions, GPT-3's matrix.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBrowser, openStudio, studioUrl } from "./browser";

describe.runIf(studioUrl)("Patterns", () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await openBrowser()));
  afterAll(() => browser?.close());

  it("says what a mask keeps and computes, and where a mistyped one is wrong", async () => {
    const { page, complaints } = await openStudio(browser, "#/patterns/mask");
    const shares = page.locator(".share b");
    await expect.poll(() => shares.allInnerTexts()).toEqual(["11.72 %", "13.18 %"]);
    const field = page.locator(".expression-field input");
    await field.fill("causal & windw(512)");
    await page.locator(".fault").waitFor();
    expect(await page.locator(".fault .problem").innerText()).toMatch(/^Column 10: .*did you mean window\?$/);
    expect(await page.locator(".fault mark").innerText()).toBe("windw");
    expect(await shares.allInnerTexts()).toEqual(["11.72 %", "13.18 %"]); // the last good map stays
    await page.getByRole("button", { name: "Write window" }).click();
    await page.locator(".fault").waitFor({ state: "detached" });
    expect(await field.inputValue()).toBe("causal & window(512)");
    expect(complaints).toEqual([]);
  });

  it("puts words of the language into the mask", async () => {
    const { page } = await openStudio(browser, "#/patterns/mask?mask=causal&tq=64&tk=64");
    await page.getByRole("button", { name: /^global:/ }).click();
    const field = page.locator(".expression-field input");
    await expect.poll(() => field.inputValue()).toMatch(/^causal & global\(\d+\)$/);
    await page.goBack();
    await expect.poll(() => field.inputValue()).toBe("causal");
  });

  it("walks the map by keys, says each cell and keeps it in the address", async () => {
    const { page } = await openStudio(browser, "#/patterns/mask");
    const map = page.locator(".painted-grid");
    await map.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await expect
      .poll(() => map.locator("[role=gridcell]").innerText())
      .toBe("queries 64 to 127, keys 64 to 127, 50.78 % seen, partial tile");
    await expect.poll(() => page.evaluate(() => location.hash)).toContain("cell=1,1");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.evaluate(() => location.hash)).not.toContain("cell");
  });

  it("leads from a row that sees nothing to the bench", async () => {
    const { page } = await openStudio(browser, "#/patterns/mask?mask=causal&tq=4&tk=3");
    await page.getByRole("link", { name: "query 0" }).click();
    await expect.poll(() => page.evaluate(() => location.hash)).toMatch(/^#\/step\?.*wrong=minus-1e9/);
    await page.locator(".beside h3").waitFor();
    expect(await page.locator("main").innerText()).not.toContain("Undo");
  });

  it("turns query and key together without changing their cosines", async () => {
    const { page } = await openStudio(browser, "#/patterns/positions?kind=rotary&at=12&before=5");
    const cosines = () => page.locator(".kind-card svg text").filter({ hasText: "cos" }).allInnerTexts();
    await page.locator(".kind-card svg").waitFor();
    const before = await cosines();
    await page.locator(".kind-card input[type=range]").first().fill("40");
    await expect.poll(() => page.locator(".kind-card p").innerText()).toContain("query at 40, key at 35");
    expect(before.length).toBeGreaterThan(3);
    expect(await cosines()).toEqual(before);
  });

  it("shows the 144 GiB of GPT-3’s matrices, and every figure with its arithmetic", async () => {
    const { page } = await openStudio(browser, "#/patterns/cost");
    await page.locator(".headline").waitFor();
    expect(await page.locator(".headline b").allInnerTexts()).toEqual(["144 GiB", "72.0 MiB"]);
    expect(await page.locator(".figures tr", { hasText: "all layers (standard, training)" }).innerText()).toContain(
      "96 layers × 96 heads × 2,048² × 4 B = 154,618,822,656 B",
    );
    await page.getByRole("button", { name: "gpt2", exact: true }).click();
    await expect.poll(() => page.locator(".headline b").first().innerText()).not.toBe("144 GiB");
  });

  it("has no page wider than a phone", async () => {
    for (const part of [
      "mask",
      "positions",
      "positions?kind=rotary",
      "positions?kind=alibi",
      "positions?kind=t5",
      "cost",
    ]) {
      const { page } = await openStudio(browser, `#/patterns/${part}`, { viewport: { width: 390, height: 844 } });
      await page.locator(".card").first().waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), part).toBeLessThanOrEqual(0);
    }
  });
});
