// What `make site` wrote (STUDIO_SITE), and a file with an engine in it (live.html in STUDIO_FILES): neither has a server that
// computes.

import { readFileSync } from "node:fs";
import type { Browser, BrowserContext } from "playwright-core";

declare const process: { env: Record<string, string | undefined> };

export const siteFolder = process.env["STUDIO_SITE"];
const address = "http://studio.test/";

const files = process.env["STUDIO_FILES"];
const hasEngine = files !== undefined && /^<script type="text\/plain" id="engine">/m.test(readFileSync(`${files}/live.html`).toString("utf8"));
/** Undefined where `make web` had not made the engine when qkv was built. */
export const liveFile = hasEngine ? `${files}/live.html` : undefined;

export interface Place {
  address: string;
  context: BrowserContext;
  /** What was asked for that is not there: nothing may be. */
  missing: string[];
}

/** Nothing but the site's files can be reached. */
export async function onSite(browser: Browser): Promise<Place> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce" });
  const missing: string[] = [];
  await context.route("**/*", async (route) => {
    const url = route.request().url();
    const name = url.startsWith(address) ? url.slice(address.length).split(/[?#]/)[0] || "index.html" : null;
    try {
      await route.fulfill({ path: `${siteFolder}/${name}` });
    } catch {
      missing.push(url);
      await route.abort();
    }
  });
  return { address, context, missing };
}

/** What `qkv view --export` wrote, from the disk and with the network off. */
export async function onDisk(browser: Browser): Promise<Place> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, reducedMotion: "reduce", offline: true });
  return { address: `file://${liveFile}`, context, missing: [] };
}
