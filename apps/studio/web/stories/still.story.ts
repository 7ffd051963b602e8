// What is pointed at stays where it is, and no side panel lies over what there is to read: on every page, at every width.

import type { ElementHandle, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { reader, studioUrl } from "./browser";

const widths = [720, 768, 1024, 1180, 1280, 1440, 1600, 1920];
const tall = 800;

interface Moved {
  what: string;
  by: number;
}

/** Rests the mouse on each of these elements in turn, and says which of them moved under it, or let the page below move. */
async function movedUnder(page: Page, selector: string, most: number): Promise<Moved[]> {
  const all = (await page.locator(selector).elementHandles()) as ElementHandle<Element>[];
  const step = Math.max(1, Math.floor(all.length / most));
  const moved: Moved[] = [];
  for (let n = 0; n < all.length; n += step) {
    const element = all[n]!;
    if (!(await element.isVisible())) continue;
    await page.mouse.move(2, 2);
    await element.evaluate((one) => one.scrollIntoView({ block: "center" }));
    const before = await boxes(element);
    const [at] = before;
    if (!at || at.y < 0 || at.y + 4 > tall) continue;
    await page.mouse.move(at.x + at.width / 2, Math.min(at.y + at.height / 2, tall - 4));
    for (let frame = 0; frame < 3; ++frame) {
      await page.waitForTimeout(60);
      const after = await boxes(element);
      const by = Math.max(...after.map((box, one) => Math.abs(box.y - before[one]!.y)));
      if (by <= 1) continue;
      moved.push({ what: await element.evaluate((one) => one.outerHTML.slice(0, 90)), by: Math.round(by) });
      break;
    }
  }
  return moved;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where the element is, and the cards of the page. */
async function boxes(element: ElementHandle<Element>): Promise<Box[]> {
  return element.evaluate((one) => {
    const cards = [...document.querySelectorAll("main .card, main table")];
    return [one, ...cards].map((each) => {
      const { x, y, width, height } = each.getBoundingClientRect();
      return { x, y, width, height };
    });
  });
}

/** The pairs of cards that lie over each other with none in the other. */
async function overlaps(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const cards = [...document.querySelectorAll("main .card")].filter((one) => one.getClientRects().length > 0);
    const found: string[] = [];
    cards.forEach((a, n) =>
      cards.slice(n + 1).forEach((b) => {
        if (a.contains(b) || b.contains(a)) return;
        const [one, two] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
        const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
        const high = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
        if (wide > 1 && high > 1) found.push(`${a.className} over ${b.className} by ${Math.round(high)} px`);
      }),
    );
    return found;
  });
}

const wrongs = ["no-scale", "mask-after", "minus-1e9"];

describe.skipIf(!studioUrl)("what is pointed at stays (set STUDIO_URL to what `qkv view --no-open` prints)", () => {
  const open = reader();

  for (const width of widths) {
    it(`Step: numbers, bars and chips, ${width} px`, async () => {
      const { page } = await open("#/step?step=5", { viewport: { width, height: tall } });
      await page.locator('td[data-name="weights:1,1"]').waitFor();
      expect(await movedUnder(page, "main td[data-name], main svg [data-name], main .chip", 24)).toEqual([]);
    }, 60_000);

    it(`Step: nothing lies over another, wherever one scrolls, ${width} px`, async () => {
      for (const wrong of wrongs) {
        const { page } = await open(`#/step?step=5&wrong=${wrong}`, { viewport: { width, height: tall } });
        await page.locator('td[data-name="weights:1,1"]').hover();
        await page.locator(".inspector-value").waitFor();
        const most = await page.evaluate(() => document.documentElement.scrollHeight);
        for (let y = 0; y < most; y += 100) {
          await page.evaluate((to) => scrollTo(0, to), y);
          expect(await overlaps(page), `${wrong}, scrolled by ${y}`).toEqual([]);
        }
      }
    }, 60_000);
  }

  it("Step on a projector", async () => {
    for (const width of [1280, 1600]) {
      const { page } = await open("#/step?step=5", { viewport: { width, height: tall } });
      await page.keyboard.press("f");
      await page.locator("html.projector").waitFor();
      expect(await movedUnder(page, "main td[data-name]", 16)).toEqual([]);
      expect(await overlaps(page)).toEqual([]);
    }
  }, 60_000);

  it("a number that is pinned, and let go, moves nothing", async () => {
    const studio = await open("#/step?step=5", { viewport: { width: 1024, height: tall } });
    const cell = studio.cell("weights:1,1");
    await cell.scrollIntoViewIfNeeded();
    const before = await cell.boundingBox();
    await cell.click();
    await studio.page.locator(".inspector button", { hasText: "Copy all digits" }).waitFor();
    expect(await cell.boundingBox()).toEqual(before);
    await studio.press("Escape");
    await studio.page.locator(".inspector button", { hasText: "Copy all digits" }).waitFor({ state: "detached" });
    expect(await cell.boundingBox()).toEqual(before);
  });

  const others: [string, string, string][] = [
    ["Heads", "#/heads?model=induction&text=abcxyzab", ".large canvas, .large .token"],
    ["Heads, lines", "#/heads?model=gpt&text=the+cat+sat+down&view=lines", ".large canvas, .large .token"],
    ["Patterns, a mask", "#/patterns/mask", ".painted-grid, .chips button"],
    ["Patterns, positions", "#/patterns/positions", ".painted-grid"],
    ["Roles", "#/roles?model=induction", "main tr, main canvas"],
    ["Far", "#/far", ".far-picture canvas, .far-top li button"],
    ["Learn, the bottleneck", "#/learn/bottleneck", "main .line-chart svg, main canvas"],
  ];
  for (const [name, address, targets] of others) {
    it(`${name}`, async () => {
      for (const width of [390, 768, 1280]) {
        const { page } = await open(address, { viewport: { width, height: tall } });
        await page.locator(targets).first().waitFor();
        await page.locator("main [aria-busy=true]").first().waitFor({ state: "detached" });
        await page.waitForTimeout(300); // what comes with the first replies is there
        expect(await movedUnder(page, targets, 12), `${width} px`).toEqual([]);
        await page.context().close(); // or the walk of a long text would go on
      }
    }, 60_000);
  }

  it("Far: what is said of a cell moves nothing below it", async () => {
    for (const width of [320, 390, 768, 1280]) {
      const { page } = await open("#/far?tokens=1048576", { viewport: { width, height: tall } });
      await page.locator(".far-picture canvas").evaluate((one) => one.scrollIntoView({ block: "center" }));
      const below = () => page.locator(".walk-row").evaluate((one) => one.getBoundingClientRect().y);
      const before = await below();
      const at = (await page.locator(".far-picture canvas").boundingBox())!;
      for (const share of [0.3, 0.5, 0.7, 0.9]) {
        await page.mouse.move(at.x + at.width * 0.35, at.y + at.height * share);
        await page.locator(".far-below", { hasNotText: "Point at a cell" }).waitFor();
        expect(Math.abs((await below()) - before), `${width} px, ${share}`).toBeLessThan(1);
      }
      await page.context().close();
    }
  }, 60_000);

  it("Far: the walk moves nothing, as it goes and when it is done", async () => {
    for (const width of [390, 768]) {
      const { page } = await open("#/far?tokens=65536", { viewport: { width, height: tall } });
      const line = page.locator(".walk-line");
      await line.locator("progress").waitFor();
      const height = () => page.locator(".walk-row").evaluate((one) => one.getBoundingClientRect().height);
      const before = await height();
      await line.filter({ hasText: /left|Exact/ }).waitFor({ timeout: 60_000 });
      expect(await height(), `${width} px`).toBeCloseTo(before, 0);
      await line.filter({ hasText: "Exact" }).waitFor({ timeout: 60_000 });
      expect(await height(), `${width} px`).toBeCloseTo(before, 0);
      await page.context().close();
    }
  }, 150_000);
});
