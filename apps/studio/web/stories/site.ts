// What `make site` wrote (STUDIO_SITE), as a static site and as one file: neither has a server that computes.

import { readFileSync, writeFileSync } from "node:fs";
import type { Browser, BrowserContext } from "playwright-core";

declare const process: { env: Record<string, string | undefined> };

export const siteFolder = process.env["STUDIO_SITE"];
const address = "http://studio.test/";

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

/** A file on the disk, with the network off. */
export async function onDisk(browser: Browser, file: string): Promise<Place> {
  writeLiveFile(file);
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, reducedMotion: "reduce", offline: true });
  return { address: `file://${file}`, context, missing: [] };
}

// One file of all: the page, its script and style, the engine, the Worker and one model.
function writeLiveFile(file: string): void {
  const text = (name: string) => readFileSync(`${siteFolder}/${name}`).toString("utf8");
  const base64 = (name: string) => readFileSync(`${siteFolder}/${name}`).toString("base64");
  const carried = (type: string, id: string, content: string) => `<script type="${type}" id="${id}">${content}</script>`;
  const models = JSON.stringify({ induction: base64("models/induction.bin") });
  const parts = [
    "<!doctype html><html lang=en><head><meta charset=utf-8><title>qkv studio</title>",
    '<meta name=viewport content="width=device-width, initial-scale=1"><link rel=icon href="data:,">',
    `<style>${text("studio.css")}</style></head><body><div id=studio></div>`,
    carried("text/plain", "engine", base64("engine.bin")),
    carried("text/plain", "worker", text("worker.js")),
    carried("application/json", "models", models),
    `<script>${text("studio.js").replaceAll("</script", "<\\/script")}</script></body></html>`,
  ];
  writeFileSync(file, parts.join("\n"));
}
