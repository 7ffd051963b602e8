// How fast the page Far is: FAR_TOKENS (131,072) made-up tokens. STUDIO_URL is what `qkv view --no-open` prints. Figures are
// printed beside what is wanted, and returned by farFigures(browser, address) for whoever prints them with others.

import { fileURLToPath } from "node:url";
import { frames, median, openBrowser, watchedPage } from "./watched.mjs";

const picture = ".far-picture";

/** Milliseconds from the act's last event until the picture is exact. */
async function took(page, act, most = 60000) {
  await page.evaluate(() => {
    for (const kind of ["pointermove", "keydown"]) addEventListener(kind, () => (globalThis.acted = performance.now()), true);
  });
  await act();
  return page.evaluate(
    async ({ picture, most }) => {
      await new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(resume))); // it is painted once
      for (;;) {
        await new Promise((resume) => requestAnimationFrame(resume));
        const past = performance.now() - globalThis.acted;
        if (document.querySelector(picture)?.dataset.settled === "true") return past;
        if (past > most) return null;
      }
    },
    { picture, most },
  );
}

export async function farFigures(browser, address, tokens = 131072) {
  const figures = {};
  const page = await watchedPage(browser, { reducedMotion: "no-preference" });
  await page.goto("about:blank");
  const started = Date.now();
  await page.goto(`${address}#/far?tokens=${tokens}&q=none`);
  await page.locator(`${picture}[data-rests]`).waitFor({ timeout: 180000 });
  figures["far: first picture, sampled"] = { ms: Date.now() - started, wanted: 250 };

  const walked = page.locator(".walk-line", { hasText: "Exact: all" }).waitFor({ timeout: 600000 });
  await walked;
  figures["far: the exact walk, from the begin"] = { ms: Date.now() - started, wanted: 15000 };
  await page.locator(`${picture}[data-settled=true]`).waitFor({ timeout: 60000 });

  const box = await page.locator(picture).boundingBox();
  const centre = [box.x + box.width / 2, box.y + box.height * 0.6];
  const goTo = async (query, key, span) => {
    await page.evaluate((hash) => (location.hash = hash), `#/far?tokens=${tokens}&q=none&at=${query},${key}&span=${span}`);
    await page.waitForTimeout(500);
    await page.locator(`${picture}[data-settled=true]`).waitFor({ timeout: 60000 });
  };
  const drag = async (dx, dy) => {
    await page.mouse.move(...centre);
    await page.mouse.down();
    await page.mouse.move(centre[0] + dx, centre[1] + dy, { steps: 8 });
    await page.mouse.up();
  };
  const pans = [];
  for (let n = 0; n < 5; ++n) {
    await goTo(Math.floor(tokens * (0.5 + 0.08 * n)), Math.floor(tokens * 0.2), 4096);
    pans.push(await took(page, () => drag(260, 170)));
  }
  figures["far: a pan, until it is exact"] = { ms: median(pans), wanted: 200 };
  const zooms = [];
  for (let n = 0; n < 5; ++n) {
    await goTo(Math.floor(tokens * (0.5 + 0.08 * n)), Math.floor(tokens * 0.1), 8192);
    await page.locator(picture).focus();
    zooms.push(await took(page, () => page.keyboard.press("+")));
  }
  figures["far: a zoom with its flight, until it is exact"] = { ms: median(zooms), wanted: 400 };

  await goTo(Math.floor(tokens * 0.6), Math.floor(tokens * 0.3), 2048);
  const moved = await frames(page, async () => {
    await page.mouse.move(...centre);
    await page.mouse.down();
    for (let n = 0; n < 120; ++n) await page.mouse.move(centre[0] + 140 * Math.sin(n / 9), centre[1] + 90 * Math.cos(n / 7));
    await page.mouse.up();
    for (let n = 0; n < 40; ++n) await page.mouse.wheel(0, n % 20 < 10 ? -60 : 60);
  });
  figures["far: a frame while dragging and zooming, median"] = { ms: moved.median, wanted: 17 };
  figures["far: the same, 95th of 100"] = { ms: moved.worst, wanted: 17 };
  await page.context().close();
  return figures;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { STUDIO_URL, FAR_TOKENS = "131072" } = process.env;
  if (!STUDIO_URL) throw new Error("set STUDIO_URL to what `qkv view --no-open` prints");
  const { browser, close } = await openBrowser();
  try {
    for (const [name, { ms, wanted }] of Object.entries(await farFigures(browser, STUDIO_URL, Number(FAR_TOKENS)))) {
      console.log(`${name.padEnd(52)} ${ms === null ? "never" : ms.toFixed(ms < 100 ? 1 : 0).padStart(8)} ms   wanted ${wanted}`);
    }
  } finally {
    await close();
  }
}
