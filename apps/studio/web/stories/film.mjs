// The page Step played from its first stop to its last, as frames: STUDIO_URL is what `qkv view --no-open` prints, FRAMES a
// folder. FRAMES/list holds for img2webp how long each is to be seen.

import { mkdirSync, writeFileSync } from "node:fs";
import { chromium } from "playwright-core";

const { STUDIO_URL, FRAMES = "frames", CHROMIUM = "/usr/bin/chromium" } = process.env;
const viewport = { width: 1280, height: 812 };
const frameTime = 40; // milliseconds
const moving = 32; // frames from one stop to the next
const hold = 1600;

mkdirSync(FRAMES, { recursive: true });
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport, colorScheme: "light" });
await page.clock.install();
await page.goto(`${STUDIO_URL}#/step`);
await page.waitForSelector("main > * > *");
await page.waitForLoadState("networkidle");
await page.clock.pauseAt(new Date(Date.now() + 5000)); // from here time stands but for what is asked

const list = ["-loop 0 -lossless -m 6"];
let last = null;
async function shoot(time) {
  const picture = await page.screenshot();
  if (last?.picture.equals(picture)) {
    last.time += time;
    return;
  }
  last = { picture, time, file: `${FRAMES}/${String(list.length).padStart(3, "0")}.png` };
  writeFileSync(last.file, picture);
  list.push(last);
}

await shoot(hold);
for (;;) {
  const before = await page.evaluate(() => location.hash);
  await page.keyboard.press("n");
  for (let n = 0; n < moving; ++n) {
    await page.clock.runFor(frameTime);
    await shoot(n + 1 < moving ? frameTime : hold);
  }
  if ((await page.evaluate(() => location.hash)) === before) break;
}
writeFileSync(`${FRAMES}/list`, list.map((one) => (typeof one === "string" ? one : `-d ${one.time} ${one.file}`)).join("\n"));
await browser.close();
