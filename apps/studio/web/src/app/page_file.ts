// This page as a file: its own script and style, every reply that it has, frozen in, and its engine where it has one that
// runs in a page. The counterpart of apps/studio/file/page_file.cc.

import type { Engine } from "../engine/engine";
import { frozenText } from "../engine/frozen";
import { baseOf } from "../engine/over_http";
import { liveParts, type LiveParts } from "./live_parts";
import { keptModels, shownModels } from "./kept_models";

interface Parts {
  script: string;
  style: string;
}

/** Of a page that came over HTTP its two files; of one in a file what stands in it. */
async function ownParts(): Promise<Parts> {
  const script = document.querySelector<HTMLScriptElement>("script[src]");
  const style = document.querySelector<HTMLLinkElement>('link[rel="stylesheet"]');
  if (script && style) return { script: await textAt(script.src), style: await textAt(style.href) };
  const inline = [...document.scripts].filter((one) => !one.type && !one.src).at(-1);
  const own = document.querySelector("head style");
  if (!inline || !own) throw new Error("The page has lost its own script or style.");
  return { script: inline.textContent ?? "", style: own.textContent ?? "" };
}

async function textAt(address: string): Promise<string> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`The page's own files are not there any more (${response.status}).`);
  return response.text();
}

// In a script these can only be parts of a text, where the backslash changes nothing.
function insideScript(text: string): string {
  return text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
}

async function hashOf(text: string): Promise<string> {
  if (!crypto.subtle) throw new Error("A browser makes such a file of a page at 127.0.0.1, or one that came encrypted.");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `'sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}'`;
}

function asText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

export interface FileParts extends Parts {
  title: string;
  starts: readonly string[];
  frozen: string;
  live: LiveParts | null;
}

export async function pageFile({ title, starts, frozen, live, ...own }: FileParts): Promise<string> {
  const script = insideScript(own.script);
  const style = own.style.replaceAll("</", "<\\/");
  const policy =
    `default-src 'none'; script-src ${await hashOf(script)}${live ? " 'wasm-unsafe-eval'" : ""}; style-src ${await hashOf(style)}; img-src data: blob:; ` +
    `connect-src 'none'; font-src data:; worker-src ${live ? "blob:" : "'none'"}; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${asText(title)}</title>
    <link rel="icon" href="data:," />
    <style>${style}</style>
  </head>
  <body>
    <div id="studio"></div>
    <noscript>This page needs JavaScript.</noscript>
<script type="application/json" id="starts">${JSON.stringify(starts).replaceAll("<", "\\u003c")}</script>
${live ? elementsOf(live) : ""}<script type="text/plain" id="frozen">${frozen}</script>
<script>${script}</script>
  </body>
</html>
`;
}

function elementsOf({ engine, worker, models }: LiveParts): string {
  return `<script type="text/plain" id="engine">${engine}</script>
<script type="text/plain" id="worker">${insideScript(worker)}</script>
<script type="application/json" id="models">${JSON.stringify(models)}</script>
`;
}

/** `starts`: where its pages begin, the one that is open first. */
export async function thisPage(engine: Engine, starts: readonly string[]): Promise<string> {
  const own = await ownParts();
  const replies = new Map(engine.replies);
  const shown = shownModels(replies.keys());
  const taken = own.script.length + own.style.length + (await frozenText(replies)).length;
  const offered = (await engine.ask("about", {})).models.map((model) => model.name);
  const live = await liveParts(baseOf(document.baseURI), shown, offered, taken);
  const frozen = await frozenText(keptModels(replies, (name) => shown.has(name) || (live !== null && name in live.models)));
  return pageFile({ ...own, title: document.title, starts, frozen, live });
}
