// What a reader does with the pictures and the code of the page Step, and with the bottleneck of the page Learn.

import { describe, expect, it } from "vitest";
import { reader, studioUrl } from "./browser";

describe.skipIf(!studioUrl)("what attention is made of (set STUDIO_URL to what `qkv view --no-open` prints)", () => {
  const open = reader();

  it("is folded until a picture is asked for, and the address remembers which", async () => {
    const studio = await open("#/step?step=2");
    const { page } = studio;
    await page.locator(".pictures .belongs", { hasText: "dot product" }).waitFor();
    expect(await page.locator(".pictures svg").count()).toBe(0);
    await page.locator(".pictures .chip", { hasText: "dot product" }).click();
    await page.locator(".pictures svg").waitFor();
    await page.locator(".pictures .choose .chip", { hasText: "sat" }).click();
    await page.locator(".pictures", { hasText: "45" }).waitFor();
    await page.waitForURL(/pic=dot&pk=2/);
    await page.reload();
    await page.locator(".pictures .formula[aria-label*='cos(45']").waitFor();
    await page.locator(".pictures .chip", { hasText: "dot product" }).click();
    expect(await page.locator(".pictures svg").count()).toBe(0);
  });

  it("a cell of the product says its sum; arrow keys go to the next", async () => {
    const studio = await open("#/step?step=2&pic=product&cell=2,1");
    const sum = studio.page.locator(".cell-sum");
    await sum.waitFor();
    expect(await sum.innerText()).toBe("sat · cat = 1 · 0 + 1 · 1 = 1");
    await studio.page.locator(".picture-product").focus();
    await studio.press("ArrowRight");
    await studio.page.locator(".cell-sum", { hasText: "sat · sat = 1 · 1 + 1 · 1 = 2" }).waitFor();
    await studio.page.locator(".player button[aria-label$=back]").click();
    await studio.page.locator(".cell-sum", { hasText: "sat · sat = 1 · 1 = 1" }).waitFor();
  });

  it("values are mixed by other masses, and by the softmax's again", async () => {
    const studio = await open("#/step?step=5&pic=mix");
    await studio.page.locator(".pictures .formula[aria-label*='0.797, 1.604']").waitFor();
    const first = studio.page.locator(".masses input").first();
    await first.focus();
    await first.press("End");
    await studio.page.waitForURL(/mass=1,/);
    await studio.page.locator(".masses b", { hasText: "55.5 %" }).waitFor();
    await studio.page.locator("button", { hasText: "back to the weights" }).click();
    await studio.page.locator(".masses b", { hasText: "19.8 %" }).waitFor();
  });

  it("heads are split stage by stage", async () => {
    const studio = await open("#/step?pic=heads");
    const { page } = studio;
    await page.locator(".picture-split").waitFor();
    await page.locator(".player button[aria-label$=on]").click();
    await page.locator(".player output", { hasText: "cut into heads" }).waitFor();
    await page.locator(".player button[aria-label$=on]").click();
    await page.locator(".picture-split", { hasText: "head 1" }).waitFor();
  });

  it("another text asks the same keys", async () => {
    const studio = await open("#/step?pic=asks");
    const other = studio.page.locator(".other input");
    await other.fill("cat cat");
    await other.press("Enter");
    await studio.page.waitForURL(/other=cat\+cat/);
    await studio.page.locator(".asked-side", { hasText: "2 × 3 weights" }).waitFor();
  });

  it("each step stands in code, in the language that the address remembers", async () => {
    const studio = await open("#/step?step=2");
    await studio.page.locator(".in-code .chip", { hasText: "Go" }).click();
    await studio.page.waitForURL(/code=go/);
    await studio.page.locator(".operations pre", { hasText: "range Q" }).waitFor();
    await studio.press("n");
    await studio.page.locator(".operations pre", { hasText: "math.Sqrt" }).waitFor();
    expect(await studio.page.locator(".operations .place").first().innerText()).toContain("src/kernels/reference/pair_scores.cc");
  });

  it("a long text does not fit through one vector, and comes back with attention", async () => {
    const studio = await open("#/learn");
    await studio.page.locator(".parts-head a", { hasText: "Bottleneck" }).click();
    await studio.page.waitForURL(/learn\/bottleneck/);
    await studio.page.locator("#vector-title small", { hasText: "13 of 23" }).waitFor();
    await studio.page.locator("#attention-title small", { hasText: "23 of 23" }).waitFor();
    await studio.page.locator(".bottleneck-lengths .line-chart").waitFor();
    await studio.page.locator(".bottleneck .chip", { hasText: "cat" }).click();
    await studio.page.locator("#vector-title small", { hasText: "3 of 3" }).waitFor();
    await studio.press("p");
    await studio.page.locator(".player output", { hasText: "2 of 3 written" }).waitFor();
    await studio.page.locator(".player .main").click();
    await studio.page.locator(".player output", { hasText: "3 of 3 written" }).waitFor();
  });

  for (const [name, options] of [
    ["wide", {}],
    ["dark", { colorScheme: "dark" }],
    ["a phone", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
  ] as const) {
    it(`axe finds nothing, and nothing sticks out: ${name}`, { timeout: 120_000 }, async () => {
      for (const fragment of ["#/step?pic=dot&step=2", "#/step?pic=product&step=2", "#/step?pic=mix&step=5", "#/step?pic=heads&code=python&step=1", "#/step?pic=asks&code=c", "#/learn/bottleneck"]) {
        const studio = await open(fragment, options);
        await studio.page.locator(".picture-row, .asked, .bottleneck-lengths .line-chart").first().waitFor();
        expect(await studio.findings(), fragment).toEqual([]);
        expect(await studio.fits(), fragment).toBe(true);
        await studio.page.context().close();
      }
    });
  }
});
