// What a reader does on the page Roles, in a real browser on a real engine.

import { describe, expect, it } from "vitest";
import { reader, studioUrl, type Studio } from "./browser";

const first = "#/roles?model=induction&text=abcxyzab&head=tokens.1.0";

async function says({ page }: Studio, sentence: string): Promise<void> {
  await page.locator(".roles-sentence", { hasText: sentence }).waitFor();
}

const chips = ({ page }: Studio) => page.locator(".roles-chips .chip.on");
const score = ({ page }: Studio, kind: "before" | "after") => page.locator(`.roles-score.${kind} strong`);

describe.skipIf(!studioUrl)("roles (set STUDIO_URL to what `qkv view --no-open` prints)", () => {
  const open = reader();

  it("opens with an example: a tap removes the head, and the answer is gone", async () => {
    const studio = await open("#/roles");
    await studio.page.getByRole("button", { name: "Remove head 1.0" }).click();
    await says(studio, "“c” at “b”: 0.9983 before, 0.0019 after.");
    expect(await score(studio, "before").innerText()).toBe("0.9983");
    expect(await score(studio, "after").innerText()).toBe("0.0019");
    await studio.page.reload();
    await says(studio, "0.0019 after");
    await chips(studio).first().click();
    await studio.page.getByText("Nothing is changed yet.").waitFor();
    await studio.page.goBack();
    await says(studio, "0.0019 after");
  });

  it("a click on the map cuts an edge, and says the new share", async () => {
    const studio = await open(first);
    const map = studio.page.locator(".edge-map .heatmap-pane");
    await studio.page.locator(".roles-score").waitFor();
    await map.click({ position: await studio.middleOf(".edge-map", 7, 2) }); // the last b, and c
    await says(studio, "0.9983 before, 0.0000 after.");
    expect(await chips(studio).innerText()).toContain("b₇ no longer sees c₂, head 1.0");
    expect(await studio.page.locator(".moved-tokens tbody tr").nth(1).innerText()).toMatch(/^b\s/);
    expect(studio.page.url()).toContain("changes=cut+1.0%3D7:2");
  });

  it("the same by keys alone, in every head", async () => {
    const studio = await open("#/roles?model=english&text=the+nun+near+the+men+%3Cbe%3E+tired&head=tokens.1.5");
    await studio.page.locator(".roles-score").waitFor();
    await studio.page.getByRole("button", { name: "in every head" }).focus();
    await studio.press("Enter");
    await studio.page.locator(".edge-map .heatmap").focus();
    await studio.press("ArrowRight", "Enter"); // in the row that is looked at
    await says(studio, "“is” at “<be>”: 0.9998 before, 0.0003 after.");
    await studio.press("Enter");
    await studio.page.getByText("Nothing is changed yet.").waitFor();
  });

  it("shows the map with the changes made, beside the one untouched", async () => {
    const studio = await open(`${first}&changes=cut+1.0%3D7:2`);
    const { page } = studio;
    const map = page.locator(".edge-map .heatmap");
    const cell = async () => {
      await map.focus();
      await studio.press("ArrowRight", "ArrowRight");
      return map.locator("[role=gridcell]").textContent();
    };
    expect(await cell()).toBe("“b” (7) reads “c” (2): 0.9819, cut");
    await page.getByRole("button", { name: "changed", exact: true }).click();
    await page.locator(".roles-map-switch", { hasText: "now " }).waitFor();
    expect(await cell()).toBe("“b” (7) reads “c” (2): 0, cut");
  });

  it("replaces what a head reads, one pattern at a time", async () => {
    const studio = await open(first);
    await studio.page.getByRole("button", { name: "evenly" }).click();
    await says(studio, "0.0028 after");
    await studio.page.getByRole("button", { name: "itself" }).click();
    await chips(studio).filter({ hasText: "reads its own key" }).waitFor();
    expect(await chips(studio).count()).toBe(1);
  });

  it("takes a state from another text, and says why where that has other tokens", async () => {
    const studio = await open("#/roles?model=induction&text=abcxyzab&head=tokens.0.0");
    await studio.page.getByText("Put in something from another text").click();
    const other = studio.page.getByLabel("Another text, of as many tokens");
    await other.fill("abdxyzab");
    await other.press("Enter");
    await studio.page.getByRole("button", { name: "What layer 0 gave at c, place 2" }).click();
    await studio.page.locator(".moved-tokens tbody tr", { hasText: "0.999" }).first().waitFor();
    expect(await studio.page.locator(".moved-tokens tbody tr").first().innerText()).toMatch(/^d\s/);
    await other.fill("abd");
    await other.press("Enter");
    await studio.page.locator(".roles-other .problem", { hasText: "expected a text of 8 tokens" }).waitFor();
    // The last good reply stays.
    expect(await studio.page.locator(".moved-tokens tbody tr").first().innerText()).toMatch(/^d\s/);
  });

  it("sorts by a column, and arrow keys go from head to head", async () => {
    const studio = await open("#/roles?model=gpt&text=He+gave+it+to+his&head=tokens.0.0");
    const { page } = studio;
    await page
      .locator("td.col-number", { hasText: /^0\.\d{3}$/ })
      .first()
      .waitFor();
    await page.getByRole("button", { name: "entropy" }).click();
    const numbers = (await page.locator("tbody td.col-number:nth-child(6)").allInnerTexts()).map((text) =>
      Number(text.replace("≈0", "0")),
    );
    expect(numbers).toHaveLength(32);
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
    await page.locator("tbody tr").first().click();
    const name = await page.locator("tbody tr th").nth(1).innerText();
    await page.locator("tbody tr th button").first().focus();
    await studio.press("ArrowDown");
    await page.locator("#head-title", { hasText: `Head ${name}` }).waitFor();
    await studio.press("r");
    await chips(studio)
      .filter({ hasText: `head ${name} removed` })
      .waitFor();
  });

  it("stops while heads are removed one by one, and goes on", async () => {
    const { page } = await open(
      "#/roles?model=gpt&text=He+gave+it+to+his&texts=" +
        `${"He+went+to+the+king+and+said+that+he+would+go.+".repeat(5)}%0A`.repeat(16),
    );
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByText("Stopped.").waitFor();
    await page.getByRole("button", { name: "Go on" }).click();
    await page
      .locator("td.col-number", { hasText: /^−?\d\.\d{3}$/ })
      .first()
      .waitFor();
    expect(await page.getByText("Stopped.").count()).toBe(0);
  });

  it("looks at another place, and at another answer; what is none is said in its place", async () => {
    const studio = await open(`${first}&changes=remove+1.0`);
    await studio.page.getByRole("radio", { name: "z, place 5" }).click();
    await studio.page.locator(".roles-sentence", { hasText: "at “z”" }).waitFor();
    const answer = studio.page.getByLabel("Another answer");
    await answer.fill("é");
    await answer.press("Enter");
    await studio.page.locator(".roles-token .problem", { hasText: "expected a piece of the vocabulary" }).waitFor();
  });

  it("says once that there is no such model", async () => {
    const { page } = await open("#/roles?model=inductoin");
    await page.locator(".model-bar .problem", { hasText: 'no model "inductoin" in the box' }).waitFor();
    expect(await page.locator(".problem").count()).toBe(1);
  });

  it("says what the task asks for and who does it, and how alike heads are", async () => {
    const { page } = await open("#/roles?model=english");
    const one = page.locator(".task-patterns li", { hasText: "pronoun-antecedent" });
    await one.getByRole("button", { name: "0.2" }).click();
    await page.locator("#head-title", { hasText: "Head 0.2" }).waitFor();
    await page.getByText("How alike are the heads of layer 0?").click();
    expect(await page.locator(".roles-alike [role=grid]").getAttribute("aria-label")).toContain("8 × 8");
  });

  it("shows cosines for a model of states, and reads held-out examples", async () => {
    const studio = await open("#/roles?model=towers&changes=remove+source:1.0");
    await says(studio, "Picture and text: cosine");
    await studio.page.getByRole("button", { name: "The next example" }).click();
    await studio.page.waitForFunction(() => location.hash.includes("example=1"));
  });

  it.each([
    [1280, "light"],
    [820, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const)("fits %i px, %s, and axe finds nothing", async (width, colorScheme) => {
    const studio = await open(`${first}&changes=remove+1.0&from_text=abdxyzab`, {
      colorScheme,
      viewport: { width, height: 844 },
    });
    await says(studio, "0.0019 after");
    expect(await studio.findings()).toEqual([]);
    expect(await studio.fits()).toBe(true);
  });
});
