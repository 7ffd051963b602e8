// The engine that a page takes along, from wherever the page has its own: written into it, beside it on a static site, or at
// the server. The counterpart of apps/studio/file/live_engine.cc.

import { base85 } from "../engine/base85";
import { broughtBy } from "../engine/brought";
import { gzipped } from "../engine/frozen";

export interface LiveParts {
  engine: string; // compressed, in base 85
  worker: string;
  models: Record<string, string>; // compressed, in base 85, by name
}

const unchosen = ["bottleneck/vector", "bottleneck/attention"];
const mostBytes = 8_000_000; // of the whole page, but for the models that it shows

/** None where the page's engine is a server's that has no other. `shown`: the models of its replies; `offered`: those that
 * its reader can choose; `taken`: the page's bytes without all this. */
export async function liveParts(base: string, shown: ReadonlySet<string>, offered: readonly string[], taken: number): Promise<LiveParts | null> {
  const source = await sourceOf(document, base);
  if (!source) return null;
  const parts: LiveParts = { engine: source.engine, worker: source.worker, models: {} };
  let bytes = taken + parts.engine.length + parts.worker.length;
  const take = async (name: string, bound: number) => {
    const model = await source.model(name);
    if (!model || bytes + model.length > bound) return;
    parts.models[name] = model;
    bytes += model.length;
  };
  for (const name of [...unchosen, ...offered.filter((one) => shown.has(one))]) await take(name, Infinity);
  for (const name of offered.filter((one) => !shown.has(one))) await take(name, mostBytes);
  return parts;
}

interface LiveSource {
  engine: string;
  worker: string;
  model(name: string): Promise<string | null>;
}

async function sourceOf(page: Document, base: string): Promise<LiveSource | null> {
  const brought = broughtBy(page);
  if (brought && !brought.isBeside) {
    const { engine, worker, models } = brought;
    return { engine, worker, model: async (name) => models[name] ?? null };
  }
  if (brought) {
    const packed = async (address: string) => base85(await bytesAt(base + address));
    const model = async (name: string) => {
      const address = brought.models[name];
      return address ? packed(address) : null;
    };
    return { engine: await packed(brought.engine), worker: new TextDecoder().decode(await bytesAt(base + brought.worker)), model };
  }
  if (!base.startsWith("http")) return null;
  const engine = await fetch(`${base}qkv.wasm`);
  if (engine.status !== 200) return null; // 204 where `make web` had not run
  const packed = async (response: Response) => base85(await gzipped(new Uint8Array(await response.arrayBuffer())));
  const model = async (name: string) => {
    const response = await fetch(`${base}models/${name}`);
    return response.ok ? packed(response) : null;
  };
  return { engine: await packed(engine), worker: new TextDecoder().decode(await bytesAt(`${base}worker.js`)), model };
}

async function bytesAt(address: string): Promise<Uint8Array> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`The page's own files are not there any more (${response.status}).`);
  return new Uint8Array(await response.arrayBuffer());
}
