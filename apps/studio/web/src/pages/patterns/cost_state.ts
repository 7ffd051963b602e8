// What the address says of a model's cost, as the question it stands for; and what of the reply the page shows where.

import { wholeNumber, type Fields } from "../../app/address";
import { bytes, flops, grouped } from "../../drawing/amounts";
import type { Chart, ChartLine } from "../../drawing/line_chart";
import type { Paint } from "../../drawing/marks";
import type { CostItemShown, CostReply, CostRequest } from "../../engine/messages";

export const firstPreset = "gpt3";

export const counted = {
  layers: "layers",
  d_model: "d model",
  heads: "heads",
  kv_heads: "kv heads",
  d_k: "d k",
  d_v: "d v",
  d_ff: "d ff",
  vocab: "vocabulary",
  decoder_layers: "decoder layers",
  tokens: "tokens",
  batch: "batch",
  tile: "tile",
} as const;
export type Count = keyof typeof counted;
export const counts = Object.keys(counted) as Count[];

export const subjects = [
  { of: "memory", name: "Memory" },
  { of: "flops", name: "FLOPs" },
  { of: "traffic", name: "Traffic" },
] as const;
export type Subject = NonNullable<CostRequest["of"]>;

export function presetOf(fields: Fields): string {
  return fields["preset"] ?? firstPreset;
}

export function subjectOf(fields: Fields): Subject {
  return subjects.find(({ of }) => of === fields["of"])?.of ?? "memory";
}

export function costRequest(fields: Fields): CostRequest {
  const request: Record<string, string | number | boolean> = { preset: presetOf(fields), of: subjectOf(fields) };
  for (const name of counts) {
    const number = wholeNumber(fields[name]);
    if (number !== null) request[name] = number;
  }
  for (const name of ["causal", "gated"])
    if (fields[name] === "0" || fields[name] === "1") request[name] = fields[name] === "1";
  if (fields["dtype"]) request["dtype"] = fields["dtype"];
  return request as CostRequest;
}

/** What `qkv cost` takes to print the same. */
export function costCommand(fields: Fields): string {
  const parts = [`qkv cost ${presetOf(fields)}`];
  const option = (name: string) => name.replace("_", "-");
  for (const name of counts) if (fields[name]) parts.push(`--${option(name)} ${fields[name]}`);
  for (const name of ["causal", "gated"])
    if (fields[name]) parts.push(fields[name] === "1" ? `--${name}` : `--no-${name}`);
  if (fields["dtype"]) parts.push(`--dtype ${fields["dtype"]}`);
  return parts.join(" ");
}

/** Another model: its own numbers, at its own length. */
export function presetChanges(preset: string): Record<string, string | null> {
  const cleared = Object.fromEntries([...counts, "causal", "gated"].map((name) => [name, null]));
  return { ...cleared, preset: preset === firstPreset ? null : preset };
}

export function itemOf(reply: CostReply, key: string): CostItemShown {
  for (const group of reply.groups) for (const item of group.items) if (item.key === key) return item;
  throw new Error(`the reply to cost has no item ${key}`);
}

/** "154,618,822,656 B = 144 GiB" in its last, short form. */
export function shortAmount({ amount }: CostItemShown): string {
  return amount.split(" = ").at(-1) ?? amount;
}

const paints: readonly Paint[] = ["q", "accent", "v", "k", "soft", "ink"];

export function costChart(of: Subject, reply: CostReply): Omit<Chart, "width" | "height"> {
  const lines = reply.lines.map((line, n): ChartLine => ({
    ...line,
    paint: paints[n % paints.length]!,
    dashed: n % 2 === 1,
  }));
  const ys = reply.lines.flatMap((line) => line.y).filter((value) => value > 0);
  const xs = reply.lines[0]?.x ?? [];
  return {
    title: `${reply.title}: ${subjects.find((one) => one.of === of)?.name ?? of} over the length`,
    lines,
    x: { name: reply.x_axis, logarithmic: true, ticks: powersIn(xs, 4), written: grouped },
    y: {
      name: reply.y_axis,
      logarithmic: true,
      ticks: powersIn(ys, of === "flops" ? 1000 : 1024),
      written: (value) => amountWriter(of)(value).replace(".00", ""),
    },
  };
}

/** The powers of `base` between the least and the greatest of positive numbers. */
export function powersIn(values: readonly number[], base: number): number[] {
  const exponent = (value: number) => Math.log(value) / Math.log(base);
  const from = Math.ceil(exponent(Math.min(...values)) - 1e-9);
  const to = Math.floor(exponent(Math.max(...values)) + 1e-9);
  return Array.from({ length: Math.max(to - from + 1, 0) }, (_, n) => base ** (from + n));
}

export function amountWriter(of: Subject): (value: number) => string {
  return of === "flops" ? flops : bytes;
}

/** Which point of the lines is nearest to the model's own length. */
export function pointOf(reply: CostReply): number {
  const xs = reply.lines[0]?.x ?? [];
  const own = Math.log(Math.max(reply.model.tokens, 1));
  return xs.reduce((best, x, n) => (Math.abs(Math.log(x) - own) < Math.abs(Math.log(xs[best]!) - own) ? n : best), 0);
}
