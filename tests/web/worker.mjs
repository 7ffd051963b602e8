// The Worker's script in Node: it gets the globals of a Worker, and posts here.
import fs from "node:fs";
import vm from "node:vm";
import zlib from "node:zlib";

const packed = (path) => ({ url: `data:application/gzip;base64,${zlib.gzipSync(fs.readFileSync(path), { level: 1 }).toString("base64")}` });

/** `models` is the folder of the box. */
export function openWorker({ script, engine, models }) {
  const waiting = new Map();
  let listener = () => {};
  const scope = {
    ...Object.fromEntries(["atob", "fetch", "Blob", "Response", "DecompressionStream", "TextEncoder", "TextDecoder",
      "WebAssembly", "performance", "setTimeout", "console", "Uint8Array", "DataView"].map((name) => [name, globalThis[name]])),
    addEventListener: (_type, heard) => (listener = heard),
    postMessage: (message) => waiting.get(message.id)?.(message),
  };
  scope.globalThis = scope;
  vm.runInNewContext(fs.readFileSync(script, "utf8"), scope);
  const names = fs.readdirSync(models, { recursive: true }).filter((name) => name.endsWith(".safetensors"));
  const start = {
    engine: packed(engine),
    models: Object.fromEntries(names.map((name) => [name.replace(".safetensors", ""), packed(`${models}/${name}`)])),
  };
  listener({ data: { start } });
  let last = 0;
  return {
    models: Object.keys(start.models),
    post: (message) => listener({ data: message }),
    /** The frames as bytes; rejects where the Worker says that it cannot go on. */
    ask(name, body, hear = () => {}) {
      const id = ++last;
      const bytes = [];
      return new Promise((resolve, reject) => {
        waiting.set(id, (message) => {
          if (message.bytes) bytes.push(Buffer.from(message.bytes));
          else if (message.failed) reject(new Error(message.failed));
          else resolve(Buffer.concat(bytes));
          hear(message);
        });
        listener({ data: { id, name, body } });
      });
    },
  };
}
