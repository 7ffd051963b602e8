// What a reader does on the page Learn; the run qkv-previous lies where the server was started (scripts/with-studio).

import { describe, expect, it } from "vitest";
import { reader, studioUrl } from "./browser";

/** A reply as a folder without runs would give it: of the same length, so that its frames hold. */
function withoutRuns<T extends Uint8Array>(reply: T): T {
  const text = Array.from(reply, (byte) => String.fromCharCode(byte)).join("");
  const empty = text.replace(/"runs":\s*\[[^\]]*\]/, (runs) => '"runs":[]'.padEnd(runs.length));
  reply.set(Uint8Array.from(empty, (character) => character.charCodeAt(0)));
  return reply;
}

describe.skipIf(!studioUrl)("a run of qkv train (set STUDIO_URL to what `qkv view --no-open` prints)", () => {
  const open = reader();

  it("is found beside the server, and has its curves", async () => {
    const studio = await open("#/learn");
    await studio.page.locator(".runs .chip", { hasText: "qkv-previous" }).click();
    await studio.page.locator(".runs", { hasText: "Step 60 of 60" }).waitFor();
    expect(studio.page.url()).toContain("run=qkv-previous");
    expect(await studio.page.locator(".plot svg").count()).toBe(2);
  });

  it("opens with something to tap where no model has learnt", async () => {
    const studio = await open("#/step", { viewport: { width: 390, height: 844 } });
    const { page } = studio;
    await page.route("**/learn", async (route) => {
      const empty = await route.fetch();
      await route.fulfill({ response: empty, body: withoutRuns(await empty.body()) });
    });
    await page.goto(`${studioUrl}#/learn`);
    const welcome = page.locator(".new-run");
    await welcome.getByRole("heading", { name: "Watch attention heads form" }).waitFor();
    const button = (await welcome.getByRole("button", { name: "Train it here" }).boundingBox())!;
    expect(button.y + button.height).toBeLessThan(844);
    expect(await welcome.locator("select").inputValue()).toBe("induction");
    await page.locator(".command", { hasText: "qkv train makes the folder" }).waitFor();
    expect(await studio.findings()).toEqual([]);
    expect(await studio.fits()).toBe(true);
  });

  it("shows a head in each model that was kept; arrow keys go from one to the next", async () => {
    const studio = await open("#/learn?run=qkv-previous&head=tokens.0.0");
    const frames = studio.page.locator(".frame");
    await frames.nth(3).waitFor();
    expect(await frames.locator("span").allInnerTexts()).toEqual(["0", "20", "40", "60"]);
    await studio.page.locator(".frame[aria-pressed=true]", { hasText: "60" }).waitFor();
    await studio.press("ArrowLeft");
    await studio.page.locator(".frame[aria-pressed=true]", { hasText: "40" }).waitFor();
    await studio.page.locator(".film .heatmap").waitFor();
    await studio.page.locator(".says", { hasText: "After step 40" }).waitFor();
  });

  it("begins a run, stops it, goes on with it, and shows its heads", async () => {
    const studio = await open("#/learn");
    await studio.page.locator(".new-run select").selectOption("induction");
    await studio.page.locator(".new-run button").click();
    await studio.page.locator(".at-work-line", { hasText: /induction: step \d+ of 2000/ }).waitFor();
    await studio.page.waitForURL(/run=qkv-induction/);
    await studio.page.locator(".at-work-line button", { hasText: "Stop" }).click();
    await studio.page.locator(".runs", { hasText: /Step \d+ of 2000 of the task induction/ }).waitFor();
    await studio.page.locator(".at-work").first().waitFor({ state: "detached" });
    await studio.page.locator(".runs button", { hasText: "Go on" }).click();
    await studio.page.locator(".frame").nth(2).waitFor();
    await studio.page.locator(".at-work-line button", { hasText: "Stop" }).click();
  }, 60_000);

  it("says what is wrong with a directory that holds no run", async () => {
    const studio = await open("#/learn?run=nowhere");
    await studio.page.locator(".problem", { hasText: "expected a directory in which `qkv train` writes" }).waitFor();
    studio.complaints.length = 0;
  });

  for (const [name, options] of [
    ["wide", {}],
    ["dark", { colorScheme: "dark" }],
    ["a phone", { viewport: { width: 390, height: 844 } }],
  ] as const) {
    it(`axe finds nothing: ${name}`, async () => {
      const studio = await open("#/learn?run=qkv-previous", options);
      await studio.page.locator(".film .heatmap").waitFor();
      expect(await studio.findings()).toEqual([]);
      expect(await studio.fits()).toBe(true);
    });
  }
});
