// Screenshots of every page, light and dark: STUDIO_URL is what `qkv view --no-open` prints, PICTURES a folder.

import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";

const { STUDIO_URL, PICTURES = "pictures", CHROMIUM = "/usr/bin/chromium" } = process.env;

const pages = {
  "step-ready": "#/step",
  "step-sum": "#/step?step=5",
  "step-backward": "#/step?back=1&dY=0,0;1,0;0,0&step=4",
  "step-wrong": "#/step?wrong=mask-after&step=4",
  "step-made-of": "#/step?pic=mix&step=5",
  "step-in-code": "#/step?code=python&step=4",
  heads: "#/heads?model=gpt&text=The+cat+sat+down+because+it+was+tired",
  "far-needle": "#/far?q=100000&k=99120&at=100000,99120&span=32",
  far: "#/far?tokens=32768",
  roles: "#/roles?model=induction&text=abcxyzab&changes=remove+1.0",
  "patterns-mask": "#/patterns/mask?mask=causal+%26+window(512)+%7C+global(4)",
  "patterns-positions": "#/patterns/positions",
  "patterns-cost": "#/patterns/cost",
  "learn-bottleneck": "#/learn/bottleneck",
  learn: "#/learn?run=qkv-previous&head=tokens.0.0",
};
const sizes = { wide: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

mkdirSync(PICTURES, { recursive: true });
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
for (const colorScheme of ["light", "dark"]) {
  for (const [size, viewport] of Object.entries(sizes)) {
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
    const page = await context.newPage();
    for (const [name, fragment] of Object.entries(pages)) {
      await page.goto("about:blank");
      await page.goto(STUDIO_URL + fragment);
      await page.waitForSelector("main > * > *");
      await page.waitForLoadState("networkidle", { timeout: 120_000 }); // the walk of a long text
      await page.waitForTimeout(400);
      await page.screenshot({ path: `${PICTURES}/${name}-${size}-${colorScheme}.png` });
    }
    await context.close();
  }
}
await browser.close();
console.log(`${Object.keys(pages).length * 4} pictures in ${PICTURES}`);
