// What a reader does on the page Step by step, in a real browser on a real engine.

import { describe, expect, it } from "vitest";
import { reader, studioUrl } from "./browser";

describe.skipIf(!studioUrl)("step by step (set STUDIO_URL to what `qkv view --no-open` prints)", () => {
  const open = reader();

  it("five steps lead to (0.797, 1.604)", async () => {
    const studio = await open();
    expect(await studio.page.locator("#board-title").innerText()).toContain("cat");
    await studio.press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight");
    await studio.page.locator(".board-step", { hasText: "Step 5 of 5" }).waitFor();
    expect(await studio.row("weights", 1, 3)).toEqual(["0.198", "0.401", "0.401"]);
    expect(await studio.row("out", 1, 2)).toEqual(["0.797", "1.604"]);
  });

  it("says that a link is damaged, until something is done", async () => {
    const studio = await open("#/step?z=eJyLjgUA");
    const said = studio.page.locator(".problem.banner", { hasText: "The link is damaged" });
    await said.waitFor();
    await studio.press("ArrowRight");
    await studio.type("k:2,1", "4");
    await said.waitFor({ state: "detached" });
  });

  it("is as it was left when another page was looked at", async () => {
    const studio = await open("#/step?step=5&V=2,0;0,7;1,1");
    await studio.page.locator("nav.pages a", { hasText: "Patterns" }).click();
    await studio.page.locator(".parts-head").waitFor();
    await studio.page.locator("nav.pages a", { hasText: "Step" }).click();
    await studio.shows("v:1,1", "7");
    expect(studio.page.url()).toContain("V=2,0;0,7;1,1");
  });

  it("another query has its own row, and the remark on 0.999", async () => {
    const studio = await open("#/step?step=5");
    await studio.page.locator(".queries button", { hasText: "sat" }).click();
    await studio.page.locator(".remarks", { hasText: "0.999" }).waitFor();
    expect(await studio.row("out", 2, 2)).toEqual(["1.000", "1.248"]);
  });

  it("a number is typed, its weight follows and says what it was, and Back undoes it", async () => {
    const studio = await open("#/step?step=5");
    await studio.type("k:2,1", "4");
    await studio.shows("weights:1,2", "0.848");
    expect(await studio.cell("weights:1,2").locator("small").textContent()).toBe("was 0.401");
    expect(studio.page.url()).toContain("K=1,0;0,1;1,4");
    await studio.page.goBack();
    await studio.shows("weights:1,2", "0.401");
  });

  it("arrow keys in a field change it by tenths, ones and hundredths", async () => {
    const studio = await open("#/step?step=5");
    await studio.cell("q:1,1").click();
    await studio.press("ArrowUp", "Shift+ArrowUp", "Alt+ArrowDown", "Enter");
    await studio.shows("q:1,1", "2.09");
    await studio.page.goBack();
    await studio.shows("q:1,1", "1");
  });

  it("a vector is dragged on the plane, and a reload keeps it", async () => {
    const studio = await open("#/step?step=5");
    await studio.page.locator(".planes button", { hasText: "query and keys" }).click();
    const box = (await studio.page.locator('.handle[data-name="q:1,0"]').boundingBox())!;
    const tip = (await studio.page.locator('.handle[data-name="k:2,0"]').boundingBox())!;
    await studio.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await studio.page.mouse.down();
    await studio.page.mouse.move(tip.x + tip.width / 2, tip.y + tip.height / 2, { steps: 8 });
    await studio.page.mouse.up();
    await studio.shows("q:1,0", "1");
    await studio.shows("out:1,0", "1.000");
    await studio.page.waitForURL(/Q=1,0;1,1;1,1/);
    await studio.page.reload();
    await studio.shows("out:1,1", "1.248");
  });

  it("a wrong mask in the address leaves a bench to mend it on", async () => {
    const { page } = await open("#/step?mask=causl&step=5");
    const mask = page.locator(".setting", { hasText: "Mask" }).locator("input");
    await page.locator(".wrong-setting .problem", { hasText: "did you mean `causal`?" }).waitFor();
    expect(await mask.inputValue()).toBe("causl");
    await mask.fill("causal");
    await mask.press("Enter");
    await page.locator(".wrong-setting").waitFor({ state: "detached" });
    await page.locator('td[data-name="weights:0,1"].hidden-pair').waitFor();
  });

  it("a head of a model: what later steps make is a line of names, weights have three scales", async () => {
    const studio = await open("#/step?model=gpt&text=The+cat+sat+down+because+it+was+tired+and+wanted+to+sleep+all+day&head=tokens.1.2&q=5");
    const { page } = studio;
    const come = page.locator(".still-to-come .chip");
    await come.first().waitFor();
    expect(await come.count()).toBeGreaterThan(3);
    expect(await page.locator(".step-table").count()).toBe(0);
    await come.filter({ hasText: "weights" }).click();
    await page.locator(".board-step", { hasText: "Step 4 of 5" }).waitFor();
    const legend = page.locator(".step-table.now .legend");
    await legend.click();
    await legend.click();
    await page.waitForFunction(() => location.hash.includes("shade=uniform"));
    expect(await legend.innerText()).toContain("× uniform");
    const spoken = await page.locator('.step-table.now [role="grid"]').getAttribute("aria-label");
    expect(spoken).toContain("weights");
  });

  it("on a phone the step bar has one row below the rail, with Reset too", async () => {
    const { page } = await open("#/step?mask=causal&step=3", { viewport: { width: 375, height: 812 } });
    const tops = await page.locator(".rail-row .play > button:visible, .rail-row .segmented").evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ top, height }) => Math.round(top + height / 2)));
    expect(tops.length).toBeGreaterThan(4);
    expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(4);
  });

  it("what changes a pinned number is not offered beside another that is pointed at; the output that is asked about stays in its row", async () => {
    const studio = await open("#/step?back=1,0&pin=q:1,1&step=4");
    const { page } = studio;
    await page.locator(".change").waitFor();
    await studio.cell("weights:1,2").hover();
    await page.locator(".inspector-value", { hasText: "0.4011" }).waitFor();
    expect(await page.locator(".change, .nudge").count()).toBe(0);
    await page.locator(".brand").hover();
    await page.locator(".change").waitFor();
    expect(await studio.cell("out:1,0").evaluate((cell) => getComputedStyle(cell).display)).toBe("table-cell");
  });

  it("a number is dragged sideways", async () => {
    const studio = await open("#/step?step=5");
    const box = (await studio.cell("v:0,0").boundingBox())!;
    await studio.page.mouse.move(box.x + 10, box.y + 10);
    await studio.page.mouse.down();
    await studio.page.mouse.move(box.x + 10 + 40, box.y + 10, { steps: 5 });
    await studio.page.mouse.up();
    await studio.shows("v:0,0", "2.5");
  });

  it("backward from y₂[1]: dS is 0.238, −0.320, 0.082", async () => {
    const studio = await open("#/step?step=5");
    await studio.press("b");
    await studio.cell("d_out:1,0").waitFor();
    await studio.cell("out:1,0").click();
    await studio.page.waitForURL(/back=1,0/);
    await studio.press("n", "n", "n", "n");
    await studio.shows("d_scores:1,0", "0.238");
    expect(await studio.row("d_scores", 1, 3)).toEqual(["0.238", "−0.320", "0.082"]);
  });

  it("a nudge is predicted and found", async () => {
    const studio = await open("#/step?back=1,0&step=5&pin=q:1,1");
    await studio.page.locator("button", { hasText: "Nudge it" }).click();
    const said = studio.page.locator(".nudge p");
    await said.waitFor();
    expect((await said.innerText()).match(/0\.00168/g)).toHaveLength(2);
  });

  it("a gradient is typed", async () => {
    const studio = await open("#/step?back=1,0&step=5");
    await studio.type("d_out:1,1", "1");
    await studio.page.waitForURL(/dY=0,0;1,1;0,0/);
    await studio.shows("d_out:1,1", "1");
  });

  it("a mask after the softmax leaves a sum of 0.599", async () => {
    const studio = await open("#/step?step=5&mask=causal");
    await studio.page.locator(".chip", { hasText: "mask after softmax" }).click();
    await studio.page.locator(".beside", { hasText: "0.599" }).waitFor();
  });

  it("an address without positions shows shuffled words; a mistake that is none can be left out", async () => {
    const { page } = await open("#/step?wrong=no-positions&step=5");
    await page.locator(".beside", { hasText: "attention does not see order" }).waitFor();
    await page.locator(".wrong .chip[aria-pressed=true]", { hasText: "words shuffled" }).waitFor();
    await page.evaluate(() => void (location.hash = "#/step?wrong=none&step=5"));
    await page.locator(".wrong .problem", { hasText: "expected no-scale" }).waitFor();
    await page.getByRole("button", { name: "Leave it out" }).click();
    await page.locator(".wrong .problem").waitFor({ state: "detached" });
    expect(page.url()).not.toContain("wrong=");
  });

  it("without scaling, the largest of 512 numbers takes 0.933, not 0.105", async () => {
    const studio = await open("#/step?wrong=no-scale&d=512");
    await studio.page.locator(".beside", { hasText: "0.933" }).waitFor();
    expect(await studio.page.locator(".beside").innerText()).toContain("0.105");
  });

  it("a number that is pointed at is written out, and rings what it is made of", async () => {
    const studio = await open("#/step?step=5");
    await studio.cell("raw:1,2").hover();
    await studio.page.locator(".inspector-label", { hasText: "q₂ · k₃" }).waitFor();
    expect(await studio.cell("q:1,0").getAttribute("data-ring")).toBe("source");
    expect(await studio.cell("scaled:1,2").getAttribute("data-ring")).toBe("use");
    expect(await studio.cell("q:0,0").getAttribute("data-ring")).toBeNull();
  });

  it("keys alone: into a matrix, to a cell, change it, out again", async () => {
    const studio = await open("#/step?step=5");
    await studio.cell("q:0,0").focus();
    await studio.press("ArrowDown", "ArrowRight");
    expect(await studio.page.evaluate(() => document.activeElement?.getAttribute("data-name"))).toBe("q:1,1");
    await studio.press("2", "Enter");
    await studio.shows("q:1,1", "2");
    expect(await studio.page.evaluate(() => document.activeElement?.getAttribute("data-name"))).toBe("q:1,1");
    await studio.press("p");
    await studio.page.locator(".board-step", { hasText: "Step 4" }).waitFor();
  });

  it("a mask that is none keeps the last good numbers and says what was expected", async () => {
    const studio = await open("#/step?step=5");
    await studio.page.locator("summary").click();
    const field = studio.page.getByLabel("Mask");
    await field.fill("windw(2)");
    await field.press("Enter");
    await studio.page.locator(".problem", { hasText: "window" }).waitFor();
    expect(await studio.number("out:1,0")).toBe("0.797");
  });

  it("words are added, taken away and typed", async () => {
    const studio = await open("#/step?step=5");
    await studio.page.locator(".word.add").click();
    await studio.cell("out:3,0").waitFor();
    await studio.page.getByLabel("Take the away").click();
    await studio.page.getByRole("textbox", { name: "Words" }).fill("a new day <b>dawns</b> here");
    await studio.page.getByRole("textbox", { name: "Words" }).press("Enter");
    await studio.cell("out:4,1").waitFor();
    expect(await studio.page.locator(".board b").allTextContents()).not.toContain("dawns");
  });

  it("on a phone the menu of what to take along, and a matrix of long words, are all on the screen", async () => {
    const viewport = { width: 390, height: 844 };
    const { page } = await open("#/step?step=5&text=Donaudampfschifffahrtsgesellschaft+sat", { viewport });
    const right = (await page.locator('td[data-name="weights:0,1"]').boundingBox())!;
    expect(right.x + right.width).toBeLessThanOrEqual(390);
    await page.getByRole("button", { name: "Take along" }).click();
    const menu = (await page.getByRole("menu").boundingBox())!;
    expect(menu.x).toBeGreaterThanOrEqual(0);
    expect(menu.x + menu.width).toBeLessThanOrEqual(390);
  });

  it("a number that cannot be read changes nothing", async () => {
    const studio = await open("#/step?step=5");
    for (const text of ["1/2", "1e400", "-"]) {
      await studio.cell("v:1,1").click();
      await studio.page.locator(".number-field").pressSequentially(text); // what is begun is a number
      expect(await studio.page.locator(".number-field").getAttribute("aria-invalid")).toBe("true");
      await studio.page.keyboard.press("Enter");
      await studio.page.locator(".number-problem", { hasText: `but got “${text}”` }).waitFor();
      expect(await studio.number("out:1,1")).toBe("1.604");
      expect(await studio.findings()).toEqual([]);
      await studio.page.keyboard.press("Escape");
      await studio.shows("v:1,1", "3");
      expect(await studio.page.locator(".number-problem").count()).toBe(0);
    }
  });

  it("a number that cannot be read stays where it was typed, with what is wrong, when the field is left", async () => {
    const studio = await open("#/step?step=5", { viewport: { width: 390, height: 844 } });
    await studio.cell("v:1,1").click();
    const field = studio.page.locator(".number-field");
    await field.fill("three");
    await studio.page.locator(".number-problem", { hasText: "Expected a number" }).waitFor();
    await studio.page.locator(".board-step").first().click();
    expect(await field.inputValue()).toBe("three");
    expect(await studio.fits()).toBe(true);
    await field.fill("4");
    expect(await studio.page.locator(".number-problem").count()).toBe(0);
    await field.press("Enter");
    await studio.shows("v:1,1", "4");
  });

  it("a finger's field says what it expected, too", async () => {
    const { page } = await open("#/step?model=induction&text=abcxyzab&head=tokens.1.0&q=7&pin=q:7,0");
    const field = page.getByLabel("Change it to");
    await field.fill("a lot");
    await field.press("Enter");
    await page.locator(".change .problem", { hasText: "but got “a lot”" }).waitFor();
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(page.url()).not.toContain("set=");
  });

  it("the list of keys is closed by Esc, and no other key reaches the page below it", async () => {
    const { page } = await open("#/step?step=2");
    await page.keyboard.press("?");
    await page.locator("dialog[open]").waitFor();
    for (const key of ["2", "ArrowRight", "b"]) await page.keyboard.press(key);
    expect(page.url()).toMatch(/#\/step\?step=2$/);
    await page.keyboard.press("Escape");
    await page.locator("dialog:not([open])").waitFor({ state: "attached" });
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/step=3/);
  });

  it("X and W keep every number", async () => {
    const studio = await open("#/step?step=5");
    await studio.page.locator("summary").click();
    await studio.page.locator("button", { hasText: "from X and W" }).click();
    await studio.cell("w_v:2,1").waitFor();
    expect(await studio.row("out", 1, 2)).toEqual(["0.797", "1.604"]);
  });

  it("what is taken along is what is seen", async () => {
    const { page } = await open("#/step?step=5&pin=weights:1,2", { acceptDownloads: true });
    const taken = async (label: string) => {
      await page.getByRole("button", { name: "Take along" }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name: label }).click(),
      ]);
      await page.keyboard.press("Escape");
      let text = "";
      for await (const chunk of await download.createReadStream()) text += String(chunk);
      return { name: download.suggestedFilename(), text };
    };
    const svg = await taken("SVG");
    expect(svg.name).toBe("attention.svg");
    expect(svg.text).toContain("0.401");
    expect(svg.text).not.toContain("var(--");
    const csv = await taken("CSV");
    expect(csv.text.split("\r\n")[2]).toBe("cat,0.1977758146404282,0.4011120926797859,0.4011120926797859");
    expect((await taken("PNG")).text.slice(1, 4)).toBe("PNG");
  });

  it("a number leads to what it is made of, and that to what made it", async () => {
    const { page } = await open("#/step?step=5&pin=out:1,0");
    await page.locator(".neighbours button", { hasText: "α cat" }).click();
    await page.waitForURL(/pin=weights:1,0/);
    await page.locator(".neighbours button", { hasText: "sum cat" }).click();
    await page.locator(".inspector-value", { hasText: "2.493" }).waitFor();
  });

  const looks: [string, string, object][] = [
    ["wide", "#/step?step=4.2&pin=weights:1,2", {}],
    ["dark", "#/step?step=5&back=1,0", { colorScheme: "dark" }],
    ["a tablet", "#/step?mask=causal&wrong=mask-after", { viewport: { width: 820, height: 1180 } }],
    ["a phone", "#/step?step=5&pin=out:1,0", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
    ["real heads", "#/step?model=induction&text=abcxyzab&head=tokens.1.0&q=7&step=5", {}],
  ];
  it.each(looks)("axe finds nothing: %s", async (_, fragment, options) => {
    const studio = await open(fragment, options);
    await studio.page.locator(".board").waitFor();
    expect(await studio.findings()).toEqual([]);
    expect(await studio.fits()).toBe(true);
  });

  it("an edit of a model's head runs through the rest of the model, and stands beside the untouched run", async () => {
    const studio = await open("#/step?model=induction&text=abcxyzab&head=tokens.1.0&q=7&pin=q:7,0");
    const { page } = studio;
    const runsOn = page.locator(".runs-on");
    await runsOn.getByText("which now says c at “b”").waitFor();
    const field = page.getByLabel("Change it to");
    await field.fill("-40");
    await field.press("Enter");
    await runsOn.locator(".runs-on-sentence", { hasText: "“c” at “b”: 0.9983 before, " }).waitFor();
    expect(await runsOn.locator(".moved-tokens tbody tr").count()).toBeGreaterThan(1);
    expect(page.url()).toContain("set=q:7,0:-40");
    await page.reload();
    await runsOn.getByRole("button", { name: "Undo: q of b@7, number 1: −40" }).click();
    await runsOn.getByText("which now says c at “b”").waitFor();
  });

  it("a phone: swipe to the sum, tap a number, read where it is from", async () => {
    const { page } = await open("", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    for (let n = 0; n < 5; ++n) {
      await page
        .locator(".board")
        .dispatchEvent("touchstart", { touches: [{ identifier: 0, clientX: 300, clientY: 300 }] });
      await page
        .locator(".board")
        .dispatchEvent("touchend", { changedTouches: [{ identifier: 0, clientX: 100, clientY: 300 }] });
    }
    await page.locator(".board-step", { hasText: "Step 5 of 5" }).waitFor();
    await page.locator('td[data-name="weights:1,2"]').tap();
    await page.locator(".sheet", { hasText: "0.4011" }).waitFor();
  });
});
