// What the address says of positions, as the question it stands for.

import type { Fields } from "../../app/address";
import type { PositionsRequest } from "../../engine/messages";

export type Kind = NonNullable<PositionsRequest["kind"]>;

export const kinds: readonly { kind: Kind; name: string; in: string }[] = [
  { kind: "sinusoidal", name: "Waves", in: "the first transformer" },
  { kind: "rotary", name: "Rotation", in: "RoPE: Llama and most since" },
  { kind: "alibi", name: "ALiBi", in: "BLOOM, MPT" },
  { kind: "t5", name: "T5’s buckets", in: "learnt numbers, shared by all layers" },
];

export interface Settings {
  kind: Kind;
  tokens: number;
  d: number;
  base: number;
  heads: number;
  head: number;
  buckets: number;
  far: number;
  /** The position that is looked at: of the query where there are two. */
  at: number;
  /** How far before it the key stands. */
  before: number;
}

interface Range {
  least: number;
  most: number;
  first: number;
}

/** Bounds of the sliders, and where they stand first. */
export const ranges = {
  tokens: { least: 8, most: 256, first: 64 },
  d: { least: 4, most: 128, first: 32 },
  base: { least: 10, most: 1_000_000, first: 10_000 },
  heads: { least: 1, most: 64, first: 8 },
  head: { least: 0, most: 63, first: 2 },
  buckets: { least: 4, most: 64, first: 32 },
  far: { least: 4, most: 1024, first: 128 },
  at: { least: 0, most: 255, first: 12 },
  before: { least: 0, most: 255, first: 5 },
} satisfies Record<string, Range>;

function within(text: string | undefined, { least, most, first }: Range): number {
  const value = Number(text);
  return text !== undefined && text !== "" && Number.isFinite(value) ? Math.min(Math.max(value, least), most) : first;
}

function whole(text: string | undefined, range: Range): number {
  return Math.round(within(text, range));
}

export function settingsOf(fields: Fields): Settings {
  const tokens = whole(fields["tokens"], ranges.tokens);
  const heads = whole(fields["heads"], ranges.heads);
  const buckets = 2 * Math.round(within(fields["buckets"], ranges.buckets) / 2);
  const at = Math.min(whole(fields["at"], ranges.at), tokens - 1);
  return {
    kind: kinds.find((one) => one.kind === fields["kind"])?.kind ?? "sinusoidal",
    tokens,
    d: 2 * Math.round(within(fields["d"], ranges.d) / 2),
    base: within(fields["base"], ranges.base),
    heads,
    head: Math.min(whole(fields["head"], ranges.head), heads - 1),
    buckets,
    far: Math.max(whole(fields["far"], ranges.far), buckets / 2), // farther than those that have a bucket each
    at,
    before: Math.min(whole(fields["before"], ranges.before), at),
  };
}

/** Only what the kind reads, so that the other sliders ask nothing again. */
export function positionsRequest(settings: Settings): PositionsRequest {
  const { kind, tokens, d, base, heads, head, buckets, far } = settings;
  switch (kind) {
    case "sinusoidal":
    case "rotary":
      return { kind, tokens, d, base };
    case "alibi":
      return { kind, tokens, heads, head };
    case "t5":
      return { kind, tokens, buckets, max_distance: far };
  }
}
