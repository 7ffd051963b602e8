// What a reader does on the page Heads, in a real browser on a real engine.

import { describe, expect, it } from "vitest";
import { reader, studioUrl, type Studio } from "./browser";

/** What the pair card says: who reads whom, and how much. */
async function pair({ page }: Studio): Promise<string[]> {
  await page.locator(".pair-why", { hasText: "softmax" }).waitFor();
  const names = await page.locator(".pair-names b").allInnerTexts();
  const weight = await page.locator(".pair-weight").evaluate((element) => element.firstChild?.textContent ?? "");
  return [...names, weight];
}

async function saidCell({ page }: Studio): Promise<string> {
  return (await page.locator(".heatmap [role=gridcell]").textContent()) ?? "";
}

describe.skipIf(!studioUrl)("heads (set STUDIO_URL to what `qkv view --no-open` prints)", () => {
  const open = reader(".large");

  it("induction: b reads the c that came after the first b, and goes on the bench", async () => {
    const studio = await open("#/heads?model=induction&text=abcxyzab");
    expect(await pair(studio)).toEqual(["b", "c", "0.982"]);
    expect(await studio.page.locator(".says-card tr").first().innerText()).toMatch(/^c\s+0\.998/);
    expect(await studio.page.locator(".says-card h2").innerText()).toContain("@7, the last token");
    await studio.page.getByText("Put on the bench").click();
    await studio.page.waitForFunction(() => location.hash.startsWith("#/step"));
    await studio.page.locator(".desk").waitFor();
    expect(studio.page.url()).toContain("head=tokens.1.0");
  });

  it("english: the hidden verb reads its subject, past the nearer noun", async () => {
    const studio = await open("#/heads?model=english&head=tokens.1.5&text=the+nun+near+the+men+%3Cbe%3E+tired");
    expect(await pair(studio)).toEqual(["<be>", "nun", "0.934"]);
    expect(await studio.page.locator(".says-card tr").first().innerText()).toMatch(/^is\s+1\.000/);
  });

  it("translation: hommes reads strange, in cross-attention; other attentions are a click away", async () => {
    const studio = await open("#/heads?model=translation&text=the+strange+men+sleep");
    expect(await pair(studio)).toEqual(["hommes", "strange", "0.999"]);
    await studio.page.locator(".sites button", { hasText: "Source" }).click();
    await studio.page.locator(".large h2", { hasText: "in the source" }).waitFor();
    await studio.page.goBack();
    await studio.page.locator(".large h2", { hasText: "cross-attention" }).waitFor();
  });

  it("shapes: a word looks at a patch of the picture, and a patch at patches", async () => {
    const studio = await open("#/heads?model=shapes&example=0");
    expect(await pair(studio)).toEqual(["purple", "11", "0.999"]);
    await studio.page.locator(".seen-picture canvas").waitFor();
    await studio.page.locator(".sites button", { hasText: "Source" }).click();
    await studio.page.locator(".seen-picture .note", { hasText: "Point at a patch: what does it read?" }).waitFor();
  });

  it("every view is in sight on a phone", async () => {
    const { page } = await open("#/heads?model=gpt", { viewport: { width: 390, height: 844 } });
    const beyond = await page.locator(".heads-toolbar .segmented").evaluate((views) => {
      const { right } = views.getBoundingClientRect();
      return [...views.children].filter((one) => one.getBoundingClientRect().right > right + 1).map((one) => one.textContent);
    });
    expect(beyond).toEqual([]);
  });

  it("keys alone: heads, layers, a pair, another view", async () => {
    const studio = await open("#/heads?model=gpt&head=tokens.0.7");
    const { page } = studio;
    const heading = page.locator(".large h2");
    await studio.press("]");
    await heading.filter({ hasText: "Layer 0, head 0" }).waitFor();
    await studio.press("}");
    await heading.filter({ hasText: "Layer 1, head 0" }).waitFor();
    await page.locator(".heatmap").focus();
    await studio.press("ArrowDown", "ArrowDown", "ArrowRight");
    expect(await saidCell(studio)).toMatch(/^query ␣sat, key ␣cat, /);
    await studio.press("ArrowRight", "ArrowRight");
    expect(await saidCell(studio)).toBe("query ␣sat, key ␣down, hidden");
    await studio.press("ArrowLeft", "Enter");
    await page.waitForFunction(() => location.hash.includes("q=2&k=2"));
    await studio.press("v");
    await page.locator(".lines").waitFor();
  });

  it("pointing previews a pair, a click locks it, Esc lets go", async () => {
    const studio = await open("#/heads?model=induction&text=abcxyzab&head=tokens.0.0&q=none");
    const { page } = studio;
    await page.locator(".pair-card.empty").waitFor();
    await page.locator(".texts .token", { hasText: "z" }).hover();
    expect((await pair(studio))[0]).toBe("z");
    await page.locator(".texts .token", { hasText: "z" }).click();
    await page.mouse.move(5, 5);
    expect((await pair(studio))[0]).toBe("z");
    await page.locator(".says-card .note", { hasText: "asked at “b” alone; choosing “z” @5" }).waitFor();
    await studio.press("Escape");
    await page.locator(".pair-card.empty").waitFor();
  });

  it("special tokens are hidden, rows add up to 1 again, and the page says so", async () => {
    const studio = await open("#/heads?model=copy&text=hello&head=source.0.0&view=query&q=0&k=0");
    await studio.page.locator(".hide-special input").check();
    await studio.page.locator(".note", { hasText: "</s> had" }).waitFor();
    await studio.page.locator(".query-view .note", { hasText: "Σ 1.000 over 5 keys" }).waitFor();
  });

  it("a word that the model does not know is named beside the text, and the last picture stays", async () => {
    const studio = await open("#/heads?model=english");
    const field = studio.page.getByLabel("Reads");
    await field.fill("the nun said");
    await field.press("Enter");
    await studio.page.locator(".field-problem", { hasText: "got \"said\"" }).waitFor();
    expect(await studio.page.locator(".large h2").innerText()).toContain("head 5");
  });

  it("a finger taps to preview, taps again to lock, and holds to lay on the bench", async () => {
    const studio = await open("#/heads?model=induction&text=abcxyzab&head=tokens.0.0&q=none", { viewport: { width: 390, height: 844 }, hasTouch: true });
    const { page } = studio;
    const pane = page.locator(".heatmap-pane");
    await pane.evaluate((element) => element.scrollIntoView());
    const box = (await pane.boundingBox())!;
    const middle = await studio.middleOf(".large", 5, 3);
    const spot = [box.x + middle.x, box.y + middle.y] as const;
    await page.touchscreen.tap(...spot);
    expect(await pair(studio)).toEqual(["z", "x", "0.088"]);
    expect(page.url()).toContain("q=none");
    await page.touchscreen.tap(...spot);
    await page.waitForFunction(() => location.hash.includes("q=5&k=3"));
    const held = { pointerType: "touch", pointerId: 7, clientX: spot[0], clientY: spot[1], bubbles: true };
    await pane.dispatchEvent("pointerdown", held);
    await page.waitForFunction(() => location.hash.startsWith("#/step"));
    expect(page.url()).toContain("q=5");
  });

  it("says whose heads are still shown where a text cannot be read, and takes no empty text", async () => {
    const { page } = await open("#/heads?model=induction&text=abcxyzab");
    const text = page.locator(".model-text input");
    await text.fill("");
    await text.press("Enter");
    expect(await text.inputValue()).toBe("abcxyzab");
    await text.fill("ABC 7");
    await text.press("Enter");
    await page.locator(".field-problem").waitFor();
    await page.getByText("Below is still what induction read before.").waitFor();
  });

  it("each view is taken along as SVG: the picture is the view", async () => {
    const studio = await open("#/heads?model=induction&text=abcxyzab&q=7&k=2");
    const { page } = studio;
    await pair(studio);
    const words = { matrix: "0.982", lines: "is read", query: "What b reads", pair: "q of b", all: "L1" };
    for (const [view, word] of Object.entries(words)) {
      await page.getByRole("group", { name: "View" }).locator("button").nth(Object.keys(words).indexOf(view)).click();
      await page.locator(".large").waitFor();
      await page.getByRole("button", { name: "Take along" }).click();
      const file = page.waitForEvent("download");
      await page.getByRole("menuitem", { name: "SVG" }).click();
      const stream = await (await file).createReadStream();
      let svg = "";
      for await (const chunk of stream) svg += String(chunk);
      expect(svg, view).toContain(`>${word}</text>`);
      await page.keyboard.press("Escape");
    }
  });

  it("the picture with its veil is taken along as SVG", async () => {
    const { page } = await open("#/heads?model=shapes&example=0&view=image");
    await page.locator(".seen-picture canvas").waitFor();
    await page.getByRole("button", { name: "Take along" }).click();
    const file = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: "SVG" }).click();
    let svg = "";
    for await (const chunk of await (await file).createReadStream()) svg += String(chunk);
    expect(svg).toContain('href="data:image/png;base64,');
    expect(svg.match(/<rect [^>]*opacity="0\.85"/g)?.length).toBeGreaterThan(3); // patches that are not read
  });

  it("a text that is too long for a whole matrix has a way to the page Far", async () => {
    const { page } = await open("#/heads?model=gpt");
    await page.getByLabel("Reads", { exact: true }).fill("the cat sat ".repeat(900));
    await page.keyboard.press("Enter");
    await page.locator(".model-bar .problem", { hasText: "the page Far" }).waitFor({ timeout: 20_000 });
    await page.getByRole("link", { name: "Read it on the page Far" }).click();
    await page.locator(".far-card h2", { hasText: "gpt, layer 0, head 0" }).waitFor({ timeout: 20_000 });
  });

  it("a click on the legend takes another scale, which the address keeps", async () => {
    const { page } = await open("#/heads?model=induction&text=abcxyzab");
    const legend = page.locator("button.legend");
    await legend.click();
    await page.waitForFunction(() => location.hash.includes("shade=log"));
    await legend.click();
    await page.locator(".large .note", { hasText: "the weight times the keys" }).waitFor();
    expect(await legend.innerText()).toContain("× uniform");
  });

  const looks: [string, string, object][] = [
    ["matrix, wide, light", "#/heads", {}],
    ["matrix, dark, 820", "#/heads?model=translation&text=the+strange+men+sleep", { colorScheme: "dark", viewport: { width: 820, height: 1000 } }],
    ["lines, phone", "#/heads?model=gpt&view=lines", { viewport: { width: 390, height: 844 } }],
    ["a query, dark", "#/heads?model=gpt&view=query", { colorScheme: "dark" }],
    ["a pair", "#/heads?model=copy&text=hello&view=pair", {}],
    ["a picture, phone", "#/heads?model=shapes&example=0", { viewport: { width: 390, height: 844 } }],
    ["all heads, phone, dark", "#/heads?model=gpt&view=all", { colorScheme: "dark", viewport: { width: 390, height: 844 } }],
  ];
  it.each(looks)("axe finds nothing: %s", async (_, fragment, options) => {
    const studio = await open(fragment, options);
    expect(await studio.findings()).toEqual([]);
    expect(await studio.fits()).toBe(true);
  });
});
