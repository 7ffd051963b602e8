#!/usr/bin/env node
// bench-web.mjs QKV TIMING.wasm QUANTISED.wasm: on one thread, the fastest of several runs: attention in f32, in WebAssembly
// and by native targets, 12 heads of 512 tokens, 64 wide; then products with quantised weights.
import { execFileSync } from "node:child_process";
import { openReactor, textAt } from "../tests/web/reactor.mjs";

const [tokens, width, heads, repeats] = [512, 64, 12, 40];
const [rows, columns, inner] = [[1, 8, 64], 1536, 768];
const [qkv, timing, quantised] = process.argv.slice(2);

function native(target) {
  const options = ["bench", "variants", "--tokens", tokens, "--heads", heads, "--head-dim", width, "--threads", 1];
  const environment = { ...process.env, QKV_FORCE_TARGET: target };
  const printed = execFileSync(qkv, [...options.map(String), "--repeats", String(repeats), "--json"], { env: environment });
  const exact = JSON.parse(printed).results.find((run) => run.variant === "exact");
  return exact.seconds * 1000;
}

const show = (name, milliseconds, note) => console.log(`${name.padEnd(12)} ${milliseconds.toFixed(1).padStart(6)} ms${note}`);

const web = (await openReactor(timing)).milliseconds(tokens, width, heads, repeats);
const avx2 = native("avx2");
show("avx2", avx2, "");
show("WebAssembly", web, `  ${(web / avx2).toFixed(2)} times`);

const engine = await openReactor(quantised);
console.log(`\nrows by a weight [${columns}, ${inner}]: milliseconds by the loops for any machine, by simd128; times as fast`);
for (let type = 0; type < engine.types(); ++type) {
  const cells = rows.map((M) => {
    const [any, own] = [0, 1].map((loops) => engine.milliseconds(loops, type, M, columns, inner, M > 8 ? 5 : 20));
    return `${M}: ${any.toFixed(2)} ${own.toFixed(2)} ${(any / own).toFixed(1)}`;
  });
  console.log(`${textAt(engine, engine.name(type)).padEnd(12)} ${cells.join("   ")}`);
}
