// What a page brings along to compute with: written into a file, or beside a page of a static site. In a file:
//   <script type="text/plain" id="engine">         qkv.wasm, compressed, in base 85
//   <script type="text/plain" id="worker">         the Worker's script, as it is
//   <script type="application/json" id="models">   {"NAME": base 85}, the models of the box
// On a static site the element #site has the addresses of the same: {"engine", "worker", "models": {"NAME": address}}.

export interface Brought {
  /** Whether `engine`, `worker` and `models` are addresses; else they are the things themselves. */
  isBeside: boolean;
  engine: string;
  worker: string;
  models: Record<string, string>;
}

export function broughtBy(page: Document): Brought | null {
  const textOf = (id: string) => page.getElementById(id)?.textContent?.trim() ?? "";
  const site = textOf("site");
  if (site) return { isBeside: true, ...(JSON.parse(site) as Omit<Brought, "isBeside">) };
  const [engine, worker] = [textOf("engine"), textOf("worker")];
  if (!engine || !worker) return null;
  return { isBeside: false, engine, worker, models: JSON.parse(textOf("models") || "{}") as Brought["models"] };
}
