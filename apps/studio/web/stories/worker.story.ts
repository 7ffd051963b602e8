// The studio without a server: the engine works in a Worker of the page, on a static site and in a file on the disk.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBrowser, Studio } from "./browser";
import { liveFile, onDisk, onSite, siteFolder, type Place } from "./site";

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

    it("says where it is computed", async () => {
      const studio = await open(places[name]!, "#/step");
      await studio.page.getByText("WebAssembly").first().waitFor({ state: "attached" });
    });
  });
});
