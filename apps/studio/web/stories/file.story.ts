// Pages in a file, from disk and without network: STUDIO_FILES is a folder with what `qkv view --export` and
// `qkv explain --html` wrote. A file holds the replies that C++ lists for it; here it is held to what its page asks.

import axe from "axe-core/axe.min.js?raw";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBrowser, openStudio, studioUrl } from "./browser";

declare const process: { env: Record<string, string | undefined> };

const folder = process.env["STUDIO_FILES"];
const slow = 120_000; // milliseconds, of pages with thousands of numbers
const refusal = "This page is a picture of one moment";

let browser: Browser;
const complaints: string[] = [];

async function open(file: string, fragment = "", options = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", offline: true, ...options });
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(`${file}: ${error}`));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`${file}: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) complaints.push(`${file} asks ${request.url()}`);
  });
  await page.goto(`file://${folder}/${file}${fragment}`);
  await page.waitForSelector("main > * > *");
  return page;
}

async function holds(page: Page, what: string): Promise<void> {
  expect(await page.locator("main").innerText(), what).not.toContain(refusal);
}

/** Points at every number of the tables, one after the other; each is written out. */
async function tapAll(page: Page, what: string): Promise<void> {
  const refused = await page.evaluate(async (refusal) => {
    const names = new Set([...document.querySelectorAll("td[data-name]")].map((cell) => cell.getAttribute("data-name")));
    const missing: string[] = [];
    for (const name of names) {
      const cell = document.querySelector(`td[data-name="${name}"]`);
      cell?.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
      await new Promise((done) => setTimeout(done, 6));
      if (document.querySelector("main")?.textContent?.includes(refusal)) missing.push(name ?? "");
    }
    return missing;
  }, refusal);
  expect(refused, what).toEqual([]);
}

/** Every stop of the rail, and the parts of each. */
async function walk(page: Page, what: string): Promise<void> {
  await page.keyboard.press("Escape");
  for (let stop = 0; stop < 12; ++stop) {
    await page.keyboard.press("n");
    await holds(page, `${what}, stop ${stop}`);
  }
}

describe.skipIf(!folder)("a page in a file (set STUDIO_FILES to a folder of them)", () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    expect(complaints).toEqual([]);
  });

  it("the chapter's figure: five steps, every number, every query, forward and backward", async () => {
    const page = await open("chapter.html");
    await walk(page, "forward");
    expect(await page.locator('td[data-name="out:1,0"] > span').innerText()).toBe("0.797");
    await tapAll(page, "forward");
    for (const word of ["the", "sat"]) {
      await page.locator(".queries button", { hasText: word }).click();
      await tapAll(page, `query ${word}`);
    }
    await page.locator(".queries button", { hasText: "cat" }).click();
    await page.getByRole("button", { name: "Backward" }).click();
    await walk(page, "backward");
    await tapAll(page, "backward");
    await page.locator('td[data-name="out:2,1"]').click();
    await page.waitForURL(/back=2,1/);
    await tapAll(page, "what moves y₃[2]");
  });

  it("every mistake is there, and nothing is offered that is not", async () => {
    const page = await open("chapter.html");
    const chips = page.locator(".wrong .chip");
    expect(await chips.count()).toBeGreaterThan(4);
    for (let n = 0; n < (await chips.count()); ++n) {
      await chips.nth(n).click();
      await page.locator(".beside").waitFor();
      await holds(page, `mistake ${n}`);
      await chips.nth(n).click();
    }
    expect(await page.getByRole("textbox", { name: "Words" }).getAttribute("readonly")).not.toBeNull();
    expect(await page.locator(".word").count()).toBe(0);
    await page.locator('td[data-name="q:1,1"]').click();
    expect(await page.locator(".number-field").count()).toBe(0);
  });

  it("a text through a drawn model: from embeddings to W_O, and every step to be read", async () => {
    const page = await open("explain.html");
    expect(page.url()).toContain("#/step?");
    await walk(page, "forward");
    await tapAll(page, "forward");
    await page.locator(".board-step", { hasText: "Step 6" }).waitFor();
    await page.getByRole("link", { name: "Explain" }).click();
    await page.locator("h1", { hasText: "The cat sat down" }).waitFor();
    await holds(page, "explain");
    expect(await page.locator(".part").count()).toBeGreaterThan(15);
  }, slow);

  it("a model: its heads, a pair number by number, one row on the bench", async () => {
    const page = await open("model.html");
    await page.locator(".weight-map, .heatmap").first().waitFor();
    const heads = page.getByRole("link", { name: "Step", exact: true });
    await page.locator(".segmented button", { hasText: "One pair" }).click();
    await page.keyboard.press("]");
    await page.keyboard.press("[");
    await holds(page, "heads");
    await heads.click();
    await page.locator("#board-title").waitFor();
    await walk(page, "bench");
  });

  it("on a phone, dark, axe finds nothing", async () => {
    const page = await open("explain.html", "", { viewport: { width: 390, height: 800 }, colorScheme: "dark", hasTouch: true });
    for (const link of ["Step", "Explain"]) {
      await page.getByRole("link", { name: link, exact: true }).click();
      await page.locator(".card").first().waitFor();
      await page.evaluate(axe);
      const found = await page.evaluate(async () => {
        const run = (globalThis as unknown as { axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } }).axe;
        return (await run.run()).violations.map((one) => `${one.id}: ${one.nodes[0]?.html}`);
      });
      expect(found).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    }
  }, slow);

  it.skipIf(!studioUrl)("this page as a file: taken along, opened from disk, the same numbers", async () => {
    const taken = await openStudio(browser, "#/step?step=5&Q=1,0;1,1;1,1", { acceptDownloads: true });
    await taken.shows("out:1,0", "1.000");
    await taken.cell("weights:1,2").hover();
    await taken.page.locator(".inspector-label", { hasText: "α₂₃" }).waitFor();
    await taken.press("e");
    const download = taken.page.waitForEvent("download");
    await taken.page.getByRole("menuitem", { name: "This page as a file" }).click();
    await (await download).saveAs(`${folder}/taken.html`);
    expect(taken.complaints).toEqual([]);

    const page = await open("taken.html");
    await page.locator('td[data-name="out:1,1"]').waitFor();
    expect(await page.locator('td[data-name="out:1,1"] > span').innerText()).toBe("1.248");
    await page.locator('td[data-name="weights:1,2"]').hover();
    await page.locator(".inspector-label", { hasText: "α₂₃" }).waitFor();
    // Live where `make web` has run: then all pages are there, and the numbers can be changed.
    const isLive = (await page.locator("#engine").count()) > 0;
    expect(await page.locator("nav.pages").count()).toBe(isLive ? 1 : 0);
    if (isLive) {
      await page.locator('td[data-name="v:1,1"]').click();
      await page.keyboard.press("Shift+ArrowUp");
      await page.locator('td[data-name="out:1,1"] > span', { hasText: /^1\.497/ }).waitFor();
    }
    await page.getByRole("button", { name: "Take along" }).click();
    const again = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: "This page as a file" }).click();
    await (await again).saveAs(`${folder}/again.html`);
    const copy = await open("again.html");
    await copy.locator('td[data-name="out:1,1"] > span', { hasText: isLive ? /^1\.497/ : /^1\.248$/ }).waitFor();
    expect((await copy.locator("#engine").count()) > 0).toBe(isLive);
  });

  it("what a step is made of, for each query and key, with nothing to move that was not computed", async () => {
    const page = await open("chapter.html");
    for (const word of ["the", "cat", "sat"]) {
      await page.locator(".queries button", { hasText: word }).click();
      const chips = page.locator(".pictures .wrong-row .chip");
      expect(await chips.count()).toBe(5);
      for (let n = 0; n < 5; ++n) {
        await chips.nth(n).click();
        await page.locator(".pictures .picture-row, .pictures .asked").first().waitFor();
        await holds(page, `picture ${n} of ${word}`);
        if (n > 0) continue;
        for (const key of ["the", "cat", "sat"]) {
          await page.locator(".pictures .choose .chip", { hasText: key }).click();
          await page.locator(".pictures .choose .chip[aria-pressed=true]", { hasText: key }).waitFor();
        }
      }
      await chips.nth(2).click();
      await page.locator(".masses input").first().waitFor();
      expect(await page.locator(".masses input:enabled").count()).toBe(0);
    }
  });

  it("its cards stand one below the other, each as far from the next", async () => {
    const page = await open("chapter.html");
    const gaps = await page.locator(".desk .below > .card").evaluateAll((cards) => {
      const boxes = [document.querySelector(".tables")!, ...cards].map((one) => one.getBoundingClientRect());
      return boxes.slice(1).map((box, n) => Math.round(box.top - boxes[n]!.bottom));
    });
    expect(gaps.length).toBeGreaterThan(1);
    expect(new Set(gaps).size).toBe(1);
  });

  it("rows of the output stand beside those of the weights", async () => {
    const page = await open("chapter.html");
    const tops = await Promise.all(["weights:1,0", "out:1,0"].map((name) => page.locator(`.tables td[data-name="${name}"]`).evaluate((one) => one.getBoundingClientRect().top)));
    expect(Math.abs(tops[0]! - tops[1]!)).toBeLessThan(0.5);
  });

  it("formulas are in letters that fonts hold, and titles of matrices are whole on a phone", async () => {
    const page = await open("explain.html", "", { viewport: { width: 390, height: 800 } });
    await page.getByRole("link", { name: "Explain" }).click();
    await page.locator(".part mi").first().waitFor();
    // An italic α by a character of its own is an empty box where no font has it.
    const letters = await page.locator(".part mi").evaluateAll((all) => all.filter((one) => /^\p{Script=Greek}$/u.test(one.textContent ?? "")).map((one) => one.getAttribute("mathvariant")));
    expect(letters.length).toBeGreaterThan(0);
    expect(new Set(letters)).toEqual(new Set(["normal"]));
    const cut = await page.locator(".part-map .matrix-title").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
    expect(cut).toEqual([]);
  });

  it("the mask that was named: what it keeps, and nothing to type where no engine answers", async () => {
    const page = await open("mask.html");
    expect(page.url()).toContain("#/patterns/mask");
    const mask = page.locator(".expression-field input");
    expect(await mask.inputValue()).toBe("causal & window(4)");
    expect(await mask.isDisabled()).toBe(true);
    await page.locator(".mask-desk canvas").first().waitFor();
    await page.locator(".mask-desk", { hasText: /2,0\d\d/ }).waitFor(); // 4 · 512 pairs less 6
    await holds(page, "mask");
  });

  it("its policy lets no other script run", async () => {
    const page = await open("chapter.html");
    const ran = await page.evaluate(async () => {
      const script = document.createElement("script");
      script.textContent = "globalThis.foreign = true";
      document.body.append(script);
      const image = new Image();
      image.setAttribute("onerror", "globalThis.foreign = true");
      image.src = "data:,";
      await new Promise((done) => setTimeout(done, 50));
      return (globalThis as { foreign?: boolean }).foreign === true;
    });
    expect(ran).toBe(false);
    complaints.splice(0, complaints.length, ...complaints.filter((one) => !one.includes("Content Security Policy")));
  });
});
