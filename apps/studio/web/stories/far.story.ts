// What a reader does on the page Far, in a real browser on a real engine.

import axe from "axe-core/axe.min.js?raw";
import { execFileSync } from "node:child_process";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openBrowser, openStudio, studioUrl, type Studio } from "./browser";
import { servedBy } from "./served";

declare const process: { env: Record<string, string | undefined> };

const qkv = process.env["QKV"];
let browser: Browser;
const opened: Studio[] = [];

async function open(fragment: string, options = {}): Promise<Studio> {
  const studio = await openStudio(browser, fragment, options);
  opened.push(studio);
  await studio.page.locator(".far-picture[data-settled]").waitFor();
  return studio;
}

async function settled({ page }: Studio): Promise<void> {
  await page.locator(".far-picture[data-settled=true]").waitFor({ timeout: 60_000 });
}

/** The keys that the panel lists: word, place, weight. */
async function top({ page }: Studio): Promise<string[][]> {
  await page.locator(".far-top li").first().waitFor();
  const rows = page.locator(".far-top li button");
  return Promise.all((await rows.all()).map(async (row) => Promise.all([".read-token", ".read-place", ".read-weight"].map((one) => row.locator(one).innerText()))));
}

/** The row of weights that the command prints. */
function probedRow(...words: string[]): number[] {
  const printed = execFileSync(qkv!, ["probe", ...words, "--json"], { encoding: "utf8", maxBuffer: 1 << 28 });
  return (JSON.parse(printed) as { arrays: { row: { values: number[] } } }).arrays.row.values;
}

describe.skipIf(!studioUrl)("far (set STUDIO_URL to what `qkv view --no-open` prints)", () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterEach(async () => {
    // Their walks would go on.
    for (const { page } of opened) await page.context().close();
  });
  afterAll(async () => {
    await browser.close();
    expect(opened.flatMap((studio) => studio.complaints)).toEqual([]);
  });

  it("story 16: the needle, with the numbers of qkv probe", async () => {
    const studio = await open("#/far");
    const listed = await top(studio);
    expect(listed[0]).toEqual(["Paris", "99,120", "0.394"]);
    await studio.page.locator(".far-top button").first().click();
    await settled(studio);
    await studio.page.waitForFunction(() => location.hash.includes("q=100000&k=99120&at=100000,99120&span=32"));
    const weight = await studio.page.locator(".far-pair strong").innerText();
    if (!qkv) return;
    await studio.press("e");
    const command = await studio.page.getByRole("menuitem", { name: /^Command/ }).locator("span").innerText();
    const row = probedRow(...command.split(" ").slice(2));
    expect(weight).toBe(row[99120]!.toFixed(4));
    const heaviest = row.map((one, key) => [one, key] as const).sort(([a], [b]) => b - a).slice(0, 8);
    expect(listed.map(([, place]) => place!.replaceAll(",", ""))).toEqual(heaviest.map(([, key]) => String(key)));
    expect(listed.map(([, , one]) => one)).toEqual(heaviest.map(([one]) => one.toFixed(3)));
  });

  it("story 17: zooming fast, no tile of another place or matrix is painted", async () => {
    const studio = await open("#/far?tokens=16384", { reducedMotion: "no-preference" });
    const { page } = studio;
    const box = (await page.locator(".far-picture").boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.6);
    for (let n = 0; n < 24; ++n) await page.mouse.wheel(0, n % 9 === 8 ? 400 : -200);
    await page.mouse.down();
    for (let n = 0; n < 20; ++n) await page.mouse.move(box.x + box.width * 0.5 + 12 * n, box.y + box.height * 0.6 - 9 * n);
    await page.mouse.up();
    await studio.press("g");
    await page.keyboard.type("9000 7000");
    await studio.press("Enter", "-", "-", "-", "-", "-");
    await page.waitForFunction(() => location.hash.includes("at=9000,7000&span=1024"));
    await settled(studio);
    const again = await open(`#${page.url().split("#")[1]!}`);
    await settled(again);
    expect(await painted(again)).toBe(await painted(studio));
    // Another mask while tiles of the first are on their way.
    await page.getByLabel("mask").fill("causal & window(64)");
    await page.getByLabel("mask").press("Enter");
    await page.waitForFunction(() => location.hash.includes("window(64)"));
    await page.locator(".far-desk:not(.waiting)").waitFor();
    await settled(studio);
    const other = await open(`#${page.url().split("#")[1]!}`);
    await settled(other);
    expect(await painted(studio)).toBe(await painted(other));
  }, 120_000);

  it("the walk is shown as it goes, can be stopped, and goes on", async () => {
    const { page } = await open("#/far?tokens=65536");
    await page.locator(".sampled").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Go on walking" }).click();
    await page.locator(".walk-line", { hasText: "Exact: all 4.3 billion pairs were walked." }).waitFor({ timeout: 100_000 });
  }, 120_000);

  it("a million tokens: a sampled picture, one exact tile, one row", async () => {
    const studio = await open("#/far?tokens=1048576");
    const { page } = studio;
    await page.locator(".far-card h2", { hasText: "1,048,576 × 1,048,576 weights" }).waitFor();
    await page.locator(".sampled").waitFor();
    await page.locator(".walk-line button", { hasText: "Walk all of it" }).waitFor(); // not unasked
    expect((await top(studio))[0]!.slice(0, 2)).toEqual(["Paris", "792,960"]);
    await page.getByRole("button", { name: "Take me there" }).click();
    await page.waitForFunction(() => location.hash.includes("at=800000,792960&span=32"));
    await settled(studio);
    expect(await page.locator(".sampled").count()).toBe(0);
    expect(Number(await page.locator(".far-pair strong").innerText())).toBeGreaterThan(0.3);
  }, 120_000);

  it("opens with the file of --file", async (context) => {
    if (!qkv) return context.skip();
    const file = "stories/far.story.ts";
    const { address, stop } = await servedBy(qkv, "gpt", "--file", file);
    try {
      const page = await (await browser.newContext()).newPage();
      await page.goto(address); // no fragment: a long text opens the page Far
      await page.locator(".far-card h2", { hasText: "gpt, layer 0, head 0" }).waitFor({ timeout: 60_000 });
      expect(page.url()).toContain(address);
      await page.locator(".far-picture[data-settled]").waitFor();
      await page.keyboard.press("g");
      await page.keyboard.type("1000");
      await page.keyboard.press("Enter");
      await page.locator(".row-card h2", { hasText: "1,000" }).waitFor();
      const row = probedRow("--model", "gpt", "--file", file, "--layer", "0", "--head", "0", "--row", "1000");
      await page.locator(".far-top .read-weight").first().waitFor();
      expect(await page.locator(".far-top .read-weight").first().innerText()).toBe(Math.max(...row).toFixed(3));
      await page.context().close();
    } finally {
      stop();
    }
  }, 120_000);

  it("a cell of many pairs gives its largest weight, hovering its value", async () => {
    const studio = await open("#/far?tokens=16384&at=12500,12390&span=600");
    await settled(studio);
    const box = (await studio.page.locator(".far-picture").boundingBox())!;
    const spot = [box.x + 104 + (box.width - 104) / 2, box.y + 76 + (box.height - 76) / 2] as const;
    await studio.page.mouse.move(...spot);
    await studio.page.locator(".far-below", { hasText: "0.41" }).waitFor();
    await studio.page.mouse.click(...spot);
    await studio.page.waitForFunction(() => location.hash.includes("q=12500&k=12390"));
    expect(await studio.page.locator(".far-pair strong").innerText()).toMatch(/^0\.4\d\d\d$/);
    expect(await studio.page.locator(".far-pair").innerText()).toContain("Paris");
  });

  it("keys alone: find a word, go to a place, zoom, move, take the middle, let go", async () => {
    const studio = await open("#/far?tokens=4096");
    const { page } = studio;
    await studio.press("/");
    await page.keyboard.type("paris");
    await studio.press("Enter");
    await page.locator(".find-card h2", { hasText: "is one key" }).waitFor();
    await studio.press(">");
    await page.waitForFunction(() => location.hash.includes("k=3097"));
    expect(await page.locator(".far-pair").innerText()).toContain("Paris");
    await studio.press("g");
    await page.keyboard.type("9999");
    await studio.press("Enter");
    await page.locator(".far-go .problem", { hasText: "expected a query from 0 to 4,095, got 9,999" }).waitFor();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("2,000 1000");
    await studio.press("Enter");
    await page.waitForFunction(() => location.hash.includes("at=2000,1000"));
    await studio.press("+", "ArrowRight");
    await page.waitForFunction(() => /at=2000,10(0[1-9]|[1-9]\d)&span=1\d/.test(location.hash));
    await page.locator(".far-picture").focus();
    await studio.press("Enter");
    await page.waitForFunction(() => /q=2000&k=10\d\d/.test(location.hash));
    await studio.press("Escape");
    await page.locator(".row-card.empty").waitFor();
    await studio.press("0");
    await page.waitForFunction(() => !location.hash.includes("at="));
    await page.goBack();
    await page.waitForFunction(() => location.hash.includes("at="));
  });

  it("a real text: gpt over a file that is opened here, with the numbers of qkv probe, another head, the bench for a short one", async () => {
    const studio = await open("#/far?model=gpt&head=tokens.1.2");
    const { page } = studio;
    await page.getByRole("button", { name: "Put on the bench" }).waitFor({ state: "detached" });
    const file = "stories/step.story.ts";
    await page.locator("input[type=file]").setInputFiles(file);
    await page.locator(".far-card h2", { hasText: "layer 0, head 0" }).waitFor();
    await page.getByRole("radio", { name: "Layer 1, head 2" }).click();
    await page.locator(".far-card h2", { hasText: "layer 1, head 2" }).waitFor();
    await settled(studio);
    await studio.press("g");
    await page.keyboard.type("1234");
    await studio.press("Enter");
    await page.locator(".row-card h2", { hasText: "1,234" }).waitFor();
    const listed = await top(studio);
    if (qkv) {
      const row = probedRow("--model", "gpt", "--file", file, "--layer", "1", "--head", "2", "--row", "1234");
      const heaviest = Math.max(...row);
      expect(listed[0]![1]!.replaceAll(",", "")).toBe(String(row.indexOf(heaviest)));
      expect(listed[0]![2]).toBe(heaviest.toFixed(3));
    }
    const short = await open("#/far?model=gpt&text=The+cat+sat+down&head=tokens.1.2&q=3");
    await short.page.getByRole("button", { name: "Put on the bench" }).click();
    await short.page.waitForFunction(() => location.hash.startsWith("#/step"));
    await short.page.locator(".desk").waitFor();
    expect(short.page.url()).toContain("head=tokens.1.2");
  }, 120_000);

  it("can be taken along: a picture, and a table of what is seen", async () => {
    const studio = await open("#/far?tokens=4096&at=3125,3097&span=16");
    const { page } = studio;
    await settled(studio);
    const saved = async (name: RegExp) => {
      await studio.press("e");
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name }).click()]);
      await studio.press("Escape");
      return file.suggestedFilename();
    };
    expect(await saved(/^PNG/)).toBe("far.png");
    expect(await saved(/^CSV/)).toBe("far-weights.csv");
  });

  it("says in its place what cannot be, and keeps the last picture", async () => {
    const studio = await open("#/far?tokens=4096");
    await studio.page.getByLabel("mask").fill("causl");
    await studio.page.getByLabel("mask").press("Enter");
    await studio.page.locator(".far-source .problem", { hasText: "causal" }).waitFor();
    expect(await studio.page.locator(".far-card h2").innerText()).toContain("4,096");
  });

  it("two fingers zoom, one moves, twice zooms in, on a phone", async () => {
    const studio = await open("#/far?tokens=16384", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const { page } = studio;
    const picture = page.locator(".far-picture");
    await picture.scrollIntoViewIfNeeded();
    const box = (await picture.boundingBox())!;
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const finger = async (type: string, pointerId: number, dx: number) =>
      picture.dispatchEvent(type, { pointerType: "touch", pointerId, button: 0, clientX: x + dx, clientY: y, bubbles: true, isPrimary: pointerId === 1 });
    await finger("pointerdown", 1, -20);
    await finger("pointerdown", 2, 20);
    for (let n = 0; n < 6; ++n) {
      await finger("pointermove", 1, -20 - 12 * n);
      await finger("pointermove", 2, 20 + 12 * n);
    }
    await finger("pointerup", 1, -80);
    await finger("pointerup", 2, 80);
    await page.waitForFunction(() => location.hash.includes("span="));
    const span = () => page.evaluate(() => Number(/span=(\d+)/.exec(location.hash)?.[1]));
    const pinched = await span();
    expect(pinched).toBeLessThan(16384 / 2);
    await page.touchscreen.tap(x, y);
    await page.touchscreen.tap(x, y);
    await page.waitForFunction((before) => Number(/span=(\d+)/.exec(location.hash)?.[1]) < before / 2, pinched);
  });

  it("the picture of all of it ends where the matrix does, on a phone", async () => {
    const { page } = await open("#/far?tokens=4096", { viewport: { width: 390, height: 844 } });
    const box = await page.locator(".far-picture").evaluate((one) => {
      const gutter = (name: string) => parseFloat(getComputedStyle(one).getPropertyValue(name));
      return { width: one.clientWidth - gutter("--left"), height: one.clientHeight - gutter("--top") };
    });
    expect(Math.abs(box.height - box.width)).toBeLessThan(8);
  });

  const looks: [string, string, object][] = [
    ["all of it, wide, light", "#/far?tokens=16384", {}],
    ["one weight, dark, 820", "#/far?tokens=16384&q=12500&k=12390&at=12500,12390&span=32&find=paris", { colorScheme: "dark", viewport: { width: 820, height: 1000 } }],
    ["a model, phone", "#/far?model=gpt&text=The+cat+sat+down+because+it+was+tired&head=tokens.1.2&q=3", { viewport: { width: 390, height: 844 } }],
    ["from afar, phone, dark", "#/far?tokens=16384&cell=mean&q=none", { colorScheme: "dark", viewport: { width: 390, height: 844 } }],
  ];
  it.each(looks)("axe finds nothing: %s", async (_, fragment, options) => {
    const { page } = await open(fragment, options);
    await page.evaluate(axe);
    const found = await page.evaluate(async () => {
      const { axe } = window as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } };
      return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ""}`);
    });
    expect(found).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  });
});

/** The pixels of the picture, as one number. */
async function painted({ page }: Studio): Promise<number> {
  await page.mouse.move(5, 5);
  await page.waitForTimeout(100);
  return page.locator(".far-picture canvas").evaluate((canvas) => {
    const { width, height } = canvas as HTMLCanvasElement;
    const pixels = (canvas as HTMLCanvasElement).getContext("2d")!.getImageData(0, 0, width, height).data;
    return pixels.reduce((hash, one) => (Math.imul(hash, 31) + one) | 0, 7);
  });
}
