// A Chromium whose pages say when they last changed: a node, an attribute, a text, or paint on a canvas.

import { readFileSync, readdirSync } from "node:fs";
import { chromium } from "playwright-core";

const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"];

export async function openBrowser() {
  const server = await chromium.launchServer({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });
  const browser = await chromium.connect(server.wsEndpoint());
  return { browser, pid: server.process().pid, close: () => browser.close().then(() => server.close()) };
}

/** Bytes of memory of a process and all that it started: what is shared is counted in parts. */
export function memoryOf(pid) {
  const parents = new Map();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "utf8");
      parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // it has ended
    }
  }
  const isOurs = (one) => one === pid || (parents.has(one) && isOurs(parents.get(one)));
  let sum = 0;
  for (const one of parents.keys()) {
    if (!isOurs(one)) continue;
    try {
      sum += 1024 * Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${one}/smaps_rollup`, "utf8"))?.[1] ?? 0);
    } catch {
      // it has ended
    }
  }
  return sum;
}

export async function watchedPage(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  await page.addInitScript(watch);
  return page;
}

function watch() {
  const seen = { changed: 0, first: 0 };
  const note = () => {
    seen.changed = performance.now();
    seen.first ||= seen.changed;
  };
  globalThis.seen = seen;
  const observe = () =>
    new MutationObserver(note).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  if (document.documentElement) observe();
  else document.addEventListener("readystatechange", observe, { once: true });
  for (const name of ["fillRect", "putImageData", "drawImage", "stroke", "fill", "fillText"]) {
    const own = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...values) {
      note();
      return own.apply(this, values);
    };
  }
}

/** Milliseconds from the act to the last change that it makes; null where it makes none. */
export async function tookToSettle(page, act, options = {}) {
  const before = await page.evaluate(() => performance.now());
  await act();
  const after = await settled(page, { ...options, since: before });
  return after === null ? null : after - before;
}

/**
 * When the page changed last, by its own clock: after `since`, ready, and then without a change for `still` ms. Null if that
 * was not so within `most` ms.
 */
export async function settled(page, { since = 0, still = 500, most = 120000, ready = "() => true" } = {}) {
  const waited = page.evaluate(
    async ({ since, still, most, ready }) => {
      const isReady = new Function(`return (${ready})()`);
      const start = performance.now();
      for (;;) {
        await new Promise((resume) => setTimeout(resume, 20));
        const now = performance.now();
        if (now - start > most) return null;
        const { changed } = globalThis.seen;
        if (changed > since && now - changed > still && isReady()) return changed;
      }
    },
    { since, still, most, ready },
  );
  const tooLate = new Promise((resume) => setTimeout(() => resume(null), most + 5000).unref());
  return Promise.race([waited, tooLate]);
}

/** Milliseconds between frames while something is done: the median and the 95th of 100. */
export async function frames(page, act) {
  await page.evaluate(() => {
    const times = (globalThis.frameTimes = []);
    const next = (now) => {
      times.push(now);
      if (globalThis.frameTimes === times) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  await act();
  const times = await page.evaluate(() => {
    const times = globalThis.frameTimes;
    globalThis.frameTimes = null;
    return times;
  });
  const between = times.slice(1).map((time, n) => time - times[n]);
  between.sort((a, b) => a - b);
  return { median: between[Math.floor(between.length / 2)], worst: between[Math.floor(between.length * 0.95)] };
}

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
