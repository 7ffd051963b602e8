// This page as a file: its own script and style, and every reply that it has, frozen in. The counterpart of
// apps/studio/file/page_file.cc.

import type { Engine } from "../engine/engine";
import { base64, frozenText } from "../engine/frozen";

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
  return `'sha256-${base64(new Uint8Array(digest))}'`;
}

function asText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

export interface FileParts extends Parts {
  title: string;
  starts: readonly string[];
  frozen: string;
}

export async function pageFile({ title, starts, frozen, ...own }: FileParts): Promise<string> {
  const script = insideScript(own.script);
  const style = own.style.replaceAll("</", "<\\/");
  const policy =
    `default-src 'none'; script-src ${await hashOf(script)}; style-src ${await hashOf(style)}; img-src data: blob:; ` +
    "connect-src 'none'; font-src data:; worker-src 'none'; base-uri 'none'; form-action 'none'";
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
<script type="text/plain" id="frozen">${frozen}</script>
<script>${script}</script>
  </body>
</html>
`;
}

/** `starts`: where its pages begin, the one that is open first. */
export async function thisPage(engine: Engine, starts: readonly string[]): Promise<string> {
  const frozen = await frozenText(engine.replies);
  return pageFile({ ...(await ownParts()), title: document.title, starts, frozen });
}
