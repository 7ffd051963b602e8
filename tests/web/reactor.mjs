// A module of the web build that asks its host for a clock alone, ready to be called.
import { readFileSync } from "node:fs";

export async function openReactor(file) {
  let memory;
  const view = () => new DataView(memory.buffer);
  const wasi = {
    environ_sizes_get: (count, bytes) => (view().setUint32(count, 0, true), view().setUint32(bytes, 0, true), 0),
    environ_get: () => 0,
    clock_time_get: (_clock, _precision, at) => (view().setBigUint64(at, process.hrtime.bigint(), true), 0),
    fd_close: () => 8,
    fd_seek: () => 8,
    fd_write: () => 8,
    proc_exit: () => { throw new Error("the engine ended itself"); },
  };
  const { instance } = await WebAssembly.instantiate(readFileSync(file), { wasi_snapshot_preview1: wasi });
  memory = instance.exports.memory;
  instance.exports._initialize();
  return instance.exports;
}

/** The text that ends with a zero at this address. */
export function textAt(exports, address) {
  const bytes = new Uint8Array(exports.memory.buffer, address);
  return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
}
