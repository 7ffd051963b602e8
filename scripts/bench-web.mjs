#!/usr/bin/env node
// bench-web.mjs QKV TIMING.wasm: attention in f32 on one thread, in WebAssembly and by native targets: 12 heads of 512 tokens,
// 64 wide. The fastest of 40 runs.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const [tokens, width, heads, repeats] = [512, 64, 12, 40];
const [qkv, module] = process.argv.slice(2);

function native(target) {
  const options = ["bench", "variants", "--tokens", tokens, "--heads", heads, "--head-dim", width, "--threads", 1];
  const environment = { ...process.env, QKV_FORCE_TARGET: target };
  const printed = execFileSync(qkv, [...options.map(String), "--repeats", String(repeats), "--json"], { env: environment });
  const exact = JSON.parse(printed).results.find((run) => run.variant === "exact");
  return exact.seconds * 1000;
}

async function inWebAssembly() {
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
  const { instance } = await WebAssembly.instantiate(readFileSync(module), { wasi_snapshot_preview1: wasi });
  memory = instance.exports.memory;
  instance.exports._initialize();
  return instance.exports.milliseconds(tokens, width, heads, repeats);
}

const show = (name, milliseconds, note) => console.log(`${name.padEnd(12)} ${milliseconds.toFixed(1).padStart(6)} ms${note}`);

inWebAssembly().then((web) => {
  const avx2 = native("avx2");
  show("avx2", avx2, "");
  show("WebAssembly", web, `  ${(web / avx2).toFixed(2)} times`);
});
