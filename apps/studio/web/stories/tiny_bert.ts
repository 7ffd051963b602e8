// A BERT of two layers with random weights, as a folder of others has it: config.json, vocab.txt, model.safetensors.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";

const words = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat down dog was tired and slept it".split(" ");
const config = {
  model_type: "bert",
  vocab_size: words.length,
  hidden_size: 16,
  intermediate_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  max_position_embeddings: 32,
  type_vocab_size: 2,
};

function shapes(): Record<string, number[]> {
  const { hidden_size: wide, intermediate_size: inner } = config;
  const all: Record<string, number[]> = {
    "embeddings.word_embeddings.weight": [config.vocab_size, wide],
    "embeddings.position_embeddings.weight": [config.max_position_embeddings, wide],
    "embeddings.token_type_embeddings.weight": [config.type_vocab_size, wide],
  };
  const linear = (name: string, to: number, from: number) => Object.assign(all, { [`${name}.weight`]: [to, from], [`${name}.bias`]: [to] });
  const norm = (name: string) => Object.assign(all, { [`${name}.weight`]: [wide], [`${name}.bias`]: [wide] });
  norm("embeddings.LayerNorm");
  for (let n = 0; n < config.num_hidden_layers; ++n) {
    const layer = `encoder.layer.${n}`;
    for (const one of ["query", "key", "value"]) linear(`${layer}.attention.self.${one}`, wide, wide);
    linear(`${layer}.attention.output.dense`, wide, wide);
    norm(`${layer}.attention.output.LayerNorm`);
    linear(`${layer}.intermediate.dense`, inner, wide);
    linear(`${layer}.output.dense`, wide, inner);
    norm(`${layer}.output.LayerNorm`);
  }
  return all;
}

/** Numbers of [-1, 1), the same each time. */
function drawn(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

function safetensors(): Uint8Array {
  const header: Record<string, unknown> = {};
  const numbers: number[] = [];
  const draw = drawn();
  for (const [name, shape] of Object.entries(shapes())) {
    const from = 4 * numbers.length;
    const count = shape.reduce((product, extent) => product * extent, 1);
    for (let n = 0; n < count; ++n) numbers.push(draw());
    header[name] = { dtype: "F32", shape, data_offsets: [from, 4 * numbers.length] };
  }
  const text = JSON.stringify(header);
  const json = new TextEncoder().encode(text.padEnd(8 * Math.ceil(text.length / 8)));
  const bytes = new Uint8Array(8 + json.length + 4 * numbers.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  bytes.set(new Uint8Array(Float32Array.from(numbers).buffer), 8 + json.length);
  return bytes;
}

/** Its folder, to be removed by who asked for it. */
export function tinyBert(): string {
  const folder = mkdtempSync(`${tmpdir()}/qkv-bert-`);
  writeFileSync(`${folder}/config.json`, JSON.stringify(config));
  writeFileSync(`${folder}/vocab.txt`, `${words.join("\n")}\n`);
  writeFileSync(`${folder}/model.safetensors`, safetensors());
  return folder;
}
