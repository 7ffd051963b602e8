// How fast the studio is, beside BertViz: studio.mjs FOLDER LENGTH…, FOLDER as bench/studio/bertviz_pages.py left it.
// QKV is the command; figures are printed as tables and written to FOLDER/figures.json. Each is a median of ROUNDS.

import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { farFigures } from "./far.mjs";
import { frames, median, memoryOf, openBrowser, settled, tookToSettle, watchedPage } from "./watched.mjs";

const { QKV = "qkv", SCRIPTS = "", ROUNDS = "3" } = process.env;
const [folder, ...lengths] = process.argv.slice(2);
const rounds = Number(ROUNDS);
const idle = "() => !document.querySelector('[aria-busy=true], .waiting, .first-wait')";
const drawn = "() => document.querySelector('main canvas') && !document.querySelector('[aria-busy=true], .waiting, .first-wait')";

/** `qkv view` with its address, and when it was started. */
function startStudio(...options) {
  const started = Date.now();
  const child = spawn(QKV, ["view", "--no-open", ...options], { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, refuse) => {
    child.on("error", refuse);
    child.on("exit", (code) => refuse(new Error(`qkv view ended with ${code}`)));
    let text = "";
    child.stdout.on("data", (bytes) => {
      text += bytes;
      const address = /^http\S+/m.exec(text)?.[0];
      if (address) resolve({ address, started, pid: child.pid, stop: () => child.removeAllListeners("exit").kill() });
    });
  });
}

async function bytesOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  let bytes = 0;
  session.on("Network.loadingFinished", (event) => (bytes += event.encodedDataLength));
  return () => bytes;
}

/** From the command to a page that is drawn, with what it takes. */
async function opened(length) {
  const { browser, pid, close } = await openBrowser();
  const page = await watchedPage(browser);
  await page.goto("about:blank");
  const empty = memoryOf(pid);
  const bytes = await bytesOf(page);
  const text = readFileSync(`${folder}/${length}.txt`, "utf8");
  const studio = await startStudio(`${folder}/minilm`, "--text", text);
  try {
    await page.goto(studio.address);
    const before = (await page.evaluate(() => Date.now() - performance.now())) - studio.started;
    const at = await settled(page, { ready: drawn });
    const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null);
    return {
      first_paint_ms: before + paint,
      usable_ms: before + at,
      bytes: bytes(),
      browser_bytes: memoryOf(pid) - empty,
      peer_bytes: memoryOf(studio.pid),
    };
  } finally {
    studio.stop();
    await close();
  }
}

/** BertViz's page from its file: until nothing changes any more. The scripts that it names in the net lie here. */
async function openedBertViz(length, view) {
  const file = `${folder}/${length}-${view}.html`;
  if (!existsSync(file)) return null;
  const require = createRequire(`${SCRIPTS}/`);
  const scripts = { require: "requirejs/require.js", d3: "d3/dist/d3.min.js", jquery: "jquery/dist/jquery.min.js" };
  const { browser, pid, close } = await openBrowser();
  try {
    const page = await watchedPage(browser);
    for (const [name, path] of Object.entries(scripts)) {
      await page.route(new RegExp(`cdnjs.*/${name}[^/]*$`), (route) => route.fulfill({ path: require.resolve(path) }));
    }
    await page.goto("about:blank");
    const empty = memoryOf(pid);
    await page.goto(pathToFileURL(file).href, { timeout: 180000, waitUntil: "commit" });
    const ready = "() => document.querySelectorAll('svg line, svg rect, svg path').length > 10";
    const at = await settled(page, { ready, still: 1500, most: 180000 });
    return { drawn_ms: at, bytes: statSync(file).size, browser_bytes: memoryOf(pid) - empty };
  } catch (error) {
    return { failed: String(error.message).split("\n")[0] };
  } finally {
    await close();
  }
}

/** What a hand does on pages that are open: until the last change that follows. */
async function acts() {
  const { browser, close } = await openBrowser();
  const studio = await startStudio();
  const found = {};
  const several = async (name, wanted, page, act) => {
    const took = [];
    for (let n = 0; n < 7; ++n) took.push(await tookToSettle(page, () => act(n), { still: 300, most: 5000, ready: idle }));
    found[name] = { ms: median(took), wanted };
  };
  const at = async (fragment) => {
    const page = await watchedPage(browser);
    await page.goto(studio.address + fragment);
    await settled(page, { ready: idle });
    return page;
  };
  const textOf = (length) => encodeURIComponent(readFileSync(`${folder}/${length}.txt`, "utf8"));
  const minilm = encodeURIComponent(`${folder}/minilm`);
  try {
    const step = await at("#/step?step=5");
    await step.locator('td[data-name="k:2,1"]').click();
    await several("bench: a key changes a number", 16, step, () => step.keyboard.press("ArrowUp"));
    const rail = await at("#/step?step=2");
    await several("bench: a step on or back", 16, rail, (n) => rail.keyboard.press(n % 2 ? "p" : "n"));

    const heads = await at(`#/heads?model=${minilm}&text=the+cat+sat+down+because+it+was+tired+and+slept`);
    const large = heads.locator(".large canvas").first();
    await large.scrollIntoViewIfNeeded();
    const box = await large.boundingBox();
    const inside = (n) => [box.x + box.width * (0.4 + 0.05 * n), box.y + box.height * 0.6];
    await several("heads: pointing at a weight", 16, heads, (n) => heads.mouse.move(...inside(n)));
    await several("heads: another head", 50, heads, () => heads.keyboard.press("]"));
    const grid = [];
    for (let n = 0; n < rounds; ++n) {
      const page = await watchedPage(browser);
      await page.goto(`${studio.address}#/step`);
      await settled(page);
      grid.push(await tookToSettle(page, () => page.goto(`${studio.address}#/heads?model=${minilm}&text=${n}+the+cat+sat+down+because+it+was+tired`), { ready: drawn }));
      await page.context().close();
    }
    found["heads: all heads of MiniLM, 12 tokens"] = { ms: median(grid), wanted: 150 };

    const longest = Math.max(...lengths.map(Number));
    const long = await watchedPage(browser);
    await long.goto(`${studio.address}#/step`);
    await settled(long);
    const took = await tookToSettle(long, () => long.goto(`${studio.address}#/heads?model=${minilm}&text=${textOf(longest)}`), { ready: drawn });
    found[`heads: all heads of MiniLM, ${longest} tokens`] = { ms: took, wanted: 2000 };
    const maps = await long.locator(".head-maps canvas").boundingBox();
    const moved = await frames(long, async () => {
      for (let n = 0; n < 120; ++n) await long.mouse.move(maps.x + (maps.width * (n % 40)) / 40, maps.y + (maps.height * (n % 17)) / 17);
    });
    found["heads: a frame while pointing at heads, 95th of 100"] = { ms: moved.worst, wanted: 17 };
    Object.assign(found, await farFigures(browser, studio.address));
  } finally {
    studio.stop();
    await close();
  }
  return found;
}

const mb = (bytes) => (bytes === undefined ? "-" : (bytes / 1e6).toFixed(1));
const ms = (value) => (value === null || value === undefined ? "never" : value.toFixed(value < 100 ? 1 : 0));
const line = (...cells) => console.log(`| ${cells.join(" | ")} |`);

function header(...cells) {
  console.log();
  line(...cells);
  line(...cells.map((_, n) => (n === 0 ? "---" : "---:")));
}

const middle = (all) => Object.fromEntries(Object.keys(all[0]).map((key) => [key, median(all.map((one) => one[key]))]));

const figures = { studio: {}, bertviz: {}, acts: {} };
const made = JSON.parse(readFileSync(`${folder}/bertviz.json`, "utf8"));
header("MiniLM, 72 heads", "tokens", "command to first paint, ms", "to usable, ms", "MB to the browser", "MB of memory: browser", "command");
for (const length of lengths) {
  const all = [];
  for (let n = 0; n < rounds; ++n) all.push(await opened(length));
  const one = (figures.studio[length] = middle(all));
  line("qkv view", length, ms(one.first_paint_ms), ms(one.usable_ms), mb(one.bytes), mb(one.browser_bytes), mb(one.peer_bytes));
  for (const view of ["head_view", "model_view"]) {
    const page = made.find((each) => each.length === Number(length) && each.view === view);
    const shown = page.failed ? { failed: page.failed } : ((await openedBertViz(length, view)) ?? { failed: "no file" });
    figures.bertviz[`${length} ${view}`] = { ...page, ...shown };
    const usable = shown.drawn_ms == null ? (shown.failed ?? "never drawn") : ms(page.command_s * 1000 + shown.drawn_ms);
    line(`BertViz ${view}`, length, ms(page.command_s * 1000), usable, mb(page.bytes), mb(shown.browser_bytes), mb(page.peak_bytes));
  }
}

figures.acts = await acts();
header("until the last change", "ms", "wanted");
for (const [name, { ms: took, wanted }] of Object.entries(figures.acts)) line(name, ms(took), wanted);
writeFileSync(`${folder}/figures.json`, JSON.stringify(figures, null, 1));
console.log(`\nfigures: ${fileURLToPath(pathToFileURL(folder))}/figures.json`);
