// The engine that a page brings along. In a file it is written into the page, compressed, in base64:
//   <script type="text/plain" id="engine">         qkv.wasm
//   <script type="text/plain" id="worker">         the Worker's script, as it is
//   <script type="application/json" id="models">   {"NAME": base64}, the models of the box
// On a static site the element #site has the addresses of the same: {"engine", "worker", "models": {"NAME": address}}.

import type { Source, Start } from "../worker/protocol";
import { InWorker, type WorkerLike } from "./in_worker";

/** The Worker with the engine of this page; null if it brings none. */
export function inPage(page: Document): InWorker | null {
  const textOf = (id: string) => page.getElementById(id)?.textContent?.trim();
  const site = textOf("site");
  if (site) return ofSite(JSON.parse(site) as Site, page.baseURI);
  const engine = textOf("engine");
  const script = textOf("worker");
  if (!engine || !script) return null;
  const models = JSON.parse(textOf("models") ?? "{}") as Record<string, string>;
  const start = { engine: { base64: engine }, models: mapped(models, (base64) => ({ base64 })) };
  return startedWith(URL.createObjectURL(new Blob([script], { type: "text/javascript" })), start);
}

interface Site {
  engine: string;
  worker: string;
  models: Record<string, string>;
}

function ofSite(site: Site, base: string): InWorker {
  const at = (address: string) => new URL(address, base).href;
  const start = { engine: { url: at(site.engine) }, models: mapped(site.models, (address) => ({ url: at(address) })) };
  return startedWith(at(site.worker), start);
}

function mapped(models: Record<string, string>, source: (text: string) => Source): Start["models"] {
  return Object.fromEntries(Object.entries(models).map(([name, text]) => [name, source(text)]));
}

// Classic Workers: from file:// a module does not start.
function startedWith(address: string, start: Start): InWorker {
  return new InWorker((compiled): WorkerLike => {
    const worker = new Worker(address);
    worker.postMessage({ start: { ...start, engine: compiled ?? start.engine } });
    return worker;
  });
}
