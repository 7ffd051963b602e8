// What a reader gets on paper: the picture, its sums and tables, and nothing to press.

import { describe, expect, it } from "vitest";
import { reader, studioUrl } from "./browser";

const controls = "button.main, button.plain, button.icon, .segmented, .chip:not(.on, .task-patterns .chip), input[type=range], .bar, .status";
const paper = { width: 703, height: 1032 }; // A4 without its margins, in CSS pixels

const pages: [string, string, string][] = [
  ["step", "#/step?step=5&pin=weights:1,2", ".inspector-value"],
  ["backward", "#/step?back=1&step=4", '[data-name="d_scores:1,0"]'],
  ["heads", "#/heads", ".large canvas"],
  ["far", "#/far?tokens=4096", ".far-picture[data-settled]"],
  ["roles", "#/roles", ".roles-score"],
  ["mask", "#/patterns/mask", ".mask-desk canvas"],
  ["positions", "#/patterns/positions", ".positions-desk svg"],
  ["cost", "#/patterns/cost", ".figures details[open] table"],
  ["bottleneck", "#/learn/bottleneck", ".bottleneck-lengths svg"],
  ["explain", "#/explain", ".explain-body .part"],
];

describe.skipIf(!studioUrl)("on paper (set STUDIO_URL to what `qkv view --no-open` prints)", () => {
  const open = reader();

  it.each(pages)("%s", async (_, fragment, shown) => {
    const studio = await open(fragment);
    const { page } = studio;
    await page.locator(shown).first().waitFor({ timeout: 20_000 });
    await page.setViewportSize(paper);
    await page.emulateMedia({ media: "print" });
    expect(await page.locator(shown).first().isVisible()).toBe(true);
    const pressed = await page.locator(controls).evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => one.outerHTML.slice(0, 120)));
    expect(pressed).toEqual([]);
    expect(await studio.fits()).toBe(true);
  });
});
