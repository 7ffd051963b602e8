// The studio without a server: the engine works in a Worker of the page, on a static site and in a file on the disk.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBrowser, Studio } from "./browser";
import { liveFile, onDisk, onSite, siteFolder, type Place } from "./site";

const slow = 120_000; // milliseconds
const site = "a static site";
const file = "a file, offline, on a phone";
const names = [...(siteFolder ? [site] : []), ...(liveFile ? [file] : [])];

let browser: Browser;
const complaints: string[] = [];

async function open(place: Place, fragment: string): Promise<Studio> {
  const page = await place.context.newPage();
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  await page.goto(`${place.address}${fragment}`);
  await page.waitForSelector("main > * > *");
  return new Studio(page, complaints);
}

describe.skipIf(names.length === 0)("without a server (after `make web` or `make site`)", () => {
  const places: Record<string, Place> = {};
  beforeAll(async () => {
    browser = await openBrowser();
    if (siteFolder) places[site] = await onSite(browser);
    if (liveFile) places[file] = await onDisk(browser);
  });
  afterAll(async () => {
    await browser.close();
    expect(complaints).toEqual([]);
    expect(Object.values(places).flatMap((place) => place.missing)).toEqual([]);
  });

  it.skipIf(!siteFolder)("gpt: its pieces on Heads, a head on the bench", async () => {
    const studio = await open(places[site]!, "#/heads?model=gpt&text=The+cat+sat+down&head=tokens.1.3");
    const { page } = studio;
    await page.locator(".weight-map, .heatmap").first().waitFor({ timeout: slow });
    await page.locator(".large").waitFor({ timeout: slow });
    await studio.press("t");
    await page.waitForFunction(() => location.hash.startsWith("#/step"));
    await page.locator(".queries button", { hasText: "down" }).first().waitFor({ timeout: slow });
    expect(await page.locator(".queries button").count()).toBe(4);
  }, slow);

  it.skipIf(!liveFile)("a file offers the models that are in it, and each opens", async () => {
    const studio = await open(places[file]!, "#/heads");
    const { page } = studio;
    const choice = page.locator("select", { has: page.locator("option", { hasText: "induction" }) }).first();
    await choice.waitFor();
    const offered = (await choice.locator("option").allInnerTexts()).filter((one) => /^[a-z0-9]+$/.test(one));
    expect(offered).toContain("english");
    expect(offered).not.toContain("gpt");
    for (const model of offered) {
      await choice.selectOption(model);
      await page.waitForFunction((name) => location.hash.includes(`model=${name}`), model);
      await page.locator(".heads-page:not(.waiting) .weight-map, .heads-page:not(.waiting) .heatmap").first().waitFor({ timeout: slow });
      expect(await page.locator("main .problem").count(), model).toBe(0);
    }
  }, slow);

  describe.each(names)("on %s", (name) => {
    it("five steps lead to (0.797, 1.604)", async () => {
      const studio = await open(places[name]!, "#/step");
      await studio.press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight");
      await studio.shows("out:1,1", "1.604");
      expect(await studio.row("weights", 1, 3)).toEqual(["0.198", "0.401", "0.401"]);
      expect(await studio.row("out", 1, 2)).toEqual(["0.797", "1.604"]);
    });

    it("a number is typed, and all follows", async () => {
      const studio = await open(places[name]!, "#/step?step=5");
      await studio.type("k:2,1", "4");
      await studio.shows("weights:1,2", "0.848");
    });

    it("goes wrong: a mask after the softmax leaves a sum of 0.599", async () => {
      const studio = await open(places[name]!, "#/step?step=5&mask=causal&wrong=mask-after");
      await studio.page.locator(".beside", { hasText: "0.599" }).waitFor();
    });

    it("backward from y₂[1]: dS is 0.238, −0.320, 0.082", async () => {
      const studio = await open(places[name]!, "#/step?step=5&back=1,0&stage=4");
      await studio.press("n", "n", "n", "n");
      await studio.shows("d_scores:1,0", "0.238");
      expect(await studio.row("d_scores", 1, 3)).toEqual(["0.238", "−0.320", "0.082"]);
    });

    it("the induction head reads c with 0.982", async () => {
      const studio = await open(places[name]!, "#/heads?model=induction&text=abcxyzab");
      await studio.page.getByText("0.982").first().waitFor();
    });

    it("explains a text of the reader's own, with its charts", async () => {
      const { page } = await open(places[name]!, "#/explain?text=a dog ran&query=dog");
      await page.locator(".explain-body .part.query").waitFor({ timeout: slow });
      expect(await page.locator(".explain-body .part.step").count()).toBeGreaterThan(10);
      await page.locator(".part.why button").first().click();
      await page.locator(".part.why svg[aria-label='Variance of q·k']").first().waitFor();
    }, slow);

    it("far: four needles in 16,384 tokens, walked to the end", async () => {
      const studio = await open(places[name]!, "#/far?tokens=16384");
      const { page } = studio;
      await page.locator(".far-picture[data-settled=true]").waitFor({ timeout: slow });
      await page.locator(".far-top li").first().waitFor({ timeout: slow });
      expect(await page.locator(".far-top .read-token").first().innerText()).toBe("Paris");
      await page.locator(".walk-line", { hasText: "Exact" }).waitFor({ timeout: slow });
      await page.locator(".far-top button").first().click();
      await page.waitForFunction(() => location.hash.includes("span="));
      await page.locator(".far-picture[data-settled=true]").waitFor({ timeout: slow });
      expect(await page.locator(".far-pair strong").innerText()).toMatch(/^0\.[34]\d\d\d$/);
    }, slow);

    it("a long question that is stopped frees the engine for the next", async () => {
      const studio = await open(places[name]!, "#/far?tokens=65536");
      const { page } = studio;
      const workers = [...page.workers()];
      page.on("worker", (one) => workers.push(one));
      await page.getByRole("button", { name: "Walk all of it" }).click();
      await page.waitForFunction(() => (document.querySelector<HTMLProgressElement>(".walk-line progress")?.value ?? 0) > 0, null, { timeout: slow });
      await page.getByRole("button", { name: "Stop" }).evaluate((button) => (button as HTMLButtonElement).click());
      await page.getByRole("button", { name: "Go on walking" }).waitFor();
      await page.evaluate(() => void (location.hash = "#/step?step=5&Q=1,0;1,1;1,1"));
      await studio.shows("out:1,1", "1.248");
      await expect.poll(() => workers.length).toBeGreaterThan(1);
    }, slow);

    it("says where it is computed", async () => {
      const studio = await open(places[name]!, "#/step");
      await studio.page.getByText("WebAssembly").first().waitFor({ state: "attached" });
    });
  });
});
