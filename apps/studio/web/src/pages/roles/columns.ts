// The columns of the table of heads, and its order.

import { shown } from "../../drawing/numbers";
import type { RolesHead, RolesReply } from "../../engine/messages";

/** How wide a page must be for a column; "more": one click away. */
export type Room = "narrow" | "medium" | "wide" | "more";

export interface Column {
  id: string;
  title: string;
  meaning: string;
  room: Room;
  decimals: number;
  bar: boolean;
  value: (head: RolesHead) => number | null;
  /** What the cell says, where it is no plain number. */
  says?: (head: RolesHead) => string;
}

type Figure = "removal" | "gradient" | "induction" | "entropy" | "evenness" | "distance" | "duplicate" | "similarity";

function figure(id: Figure, how: Omit<Column, "id" | "value" | "bar"> & { bar?: true }): Column {
  return { bar: false, ...how, id, value: (head) => head[id] };
}

const numbers: readonly Column[] = [
  figure("removal", { title: "removal", room: "narrow", decimals: 3, bar: true,
    meaning: "How much worse the model guesses without the head: its mean loss then, less its loss as it is, in nats." }),
  figure("gradient", { title: "gradient", room: "wide", decimals: 4,
    meaning: "How much the loss would move for a small change of the head: mean absolute sum of gradient × output." }),
  figure("induction", { title: "repeats", room: "medium", decimals: 2, bar: true,
    meaning: "On random tokens that come twice: the weight on the token that followed the same one before." }),
  figure("entropy", { title: "entropy", room: "medium", decimals: 2,
    meaning: "How spread out its weights are, in nats: 0 where each token reads one other." }),
  figure("evenness", { title: "even", room: "wide", decimals: 2,
    meaning: "Entropy over the largest possible: 1 where a token reads all others alike." }),
  figure("distance", { title: "distance", room: "medium", decimals: 1,
    meaning: "How far it reads: the mean distance of query and key, in tokens." }),
];

const rare: readonly Column[] = [
  figure("duplicate", { title: "repeats, same", room: "more", decimals: 2,
    meaning: "On random tokens that come twice: the weight on the same token before." }),
  figure("similarity", { title: "similar", room: "more", decimals: 2,
    meaning: "Whether it reads words of like meaning: rank correlation of weights with the embeddings’ cosines." }),
  {
    id: "nearest-distance",
    title: "like",
    meaning:
      "The head of the same layer whose rows are nearest to its own, and how far it is: 0 equal, 1 no key in common.",
    room: "more",
    decimals: 2,
    bar: false,
    value: (head) => (head.nearest === null ? null : head.nearest_distance),
    says: ({ layer, nearest, nearest_distance }) =>
      nearest === null ? "–" : `${layer}.${nearest} ${shown(nearest_distance, 2)}`,
  },
];

const slow = ["removal", "gradient"];

/** Those that say something of at least one head, or will once `isPending` is over. */
export function columnsOf(reply: Pick<RolesReply, "heads" | "patterns">, isPending = false): Column[] {
  const shares = reply.patterns.map((pattern, n): Column => ({
    id: `share-${pattern.word}`,
    title: pattern.word,
    meaning: `The mean weight on: ${pattern.name}.`,
    room: "more",
    decimals: 2,
    bar: false,
    value: (head) => head.shares[n] ?? null,
  }));
  const says = (column: Column) => reply.heads.some((head) => column.value(head) !== null);
  const isAny = (column: Column) => reply.heads.some((head) => column.value(head) !== 0);
  return [
    ...numbers.filter((column) => says(column) || (isPending && slow.includes(column.id))),
    ...shares.filter(isAny),
    ...rare.filter(says),
  ];
}

export interface Order {
  by: string; // "head", "class", or a column
  reversed: boolean;
}

/** As the address writes it: "removal", "-removal". */
export function orderOf(text: string | undefined): Order {
  const given = text ?? "head";
  return given.startsWith("-") ? { by: given.slice(1), reversed: true } : { by: given, reversed: false };
}

/** What a click on a column's title makes of the order; null: the one without a choice. */
export function orderAfter({ by, reversed }: Order, clicked: string): string | null {
  if (by === clicked) return reversed ? (clicked === "head" ? null : clicked) : `-${clicked}`;
  return clicked === "head" ? null : clicked;
}

const sites = ["tokens", "source", "cross"];

function byPlace(a: RolesHead, b: RolesHead): number {
  return sites.indexOf(a.site) - sites.indexOf(b.site) || a.layer - b.layer || a.head - b.head;
}

/** Numbers from the largest down, heads and classes from the first up; what has no number goes last. */
export function sorted(heads: readonly RolesHead[], columns: readonly Column[], order: Order): RolesHead[] {
  const sign = order.reversed ? -1 : 1;
  const column = columns.find((one) => one.id === order.by);
  return [...heads].sort((a, b) => {
    if (order.by === "class") return sign * a.word.localeCompare(b.word, "en") || byPlace(a, b);
    if (!column) return sign * byPlace(a, b);
    const [x, y] = [column.value(a), column.value(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null) || byPlace(a, b);
    return sign * (y - x) || byPlace(a, b);
  });
}

export function cellText(column: Column, head: RolesHead): string {
  if (column.says) return column.says(head);
  const value = column.value(head);
  return value === null ? "–" : shown(value, column.decimals);
}

/** The whole table with all digits. */
export function csvOf(reply: Pick<RolesReply, "heads" | "patterns">): string {
  const columns = columnsOf(reply);
  const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const first = ["site", "layer", "head", "class", "evidence", ...columns.map((column) => column.id)];
  const rows = reply.heads.map((head) => [
    head.site,
    String(head.layer),
    String(head.head),
    head.word,
    head.evidence,
    ...columns.map((column) => String(column.value(head) ?? "")),
  ]);
  return [first, ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
}
