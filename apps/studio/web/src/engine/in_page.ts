// The engine that a page brings along, in a Worker.

import type { Source, Start } from "../worker/protocol";
import { broughtBy } from "./brought";
import { InWorker, type WorkerLike } from "./in_worker";

/** The Worker with the engine of this page; null if it brings none. */
export function inPage(page: Document): InWorker | null {
  const brought = broughtBy(page);
  if (!brought) return null;
  const { isBeside, engine, worker, models } = brought;
  const at = (address: string) => new URL(address, page.baseURI).href;
  const source = (text: string): Source => (isBeside ? { url: at(text) } : { base85: text });
  const start = { engine: source(engine), models: mapped(models, source) };
  return startedWith(isBeside ? at(worker) : URL.createObjectURL(new Blob([worker], { type: "text/javascript" })), start);
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
