// Everything that the page Far shows follows from the address; this holds the questions that stand between, and where the
// reader is on the way from one place to another.

import { computed, effect, signal, untracked, type ReadonlySignal, type Signal } from "@preact/signals";
import { address, change, move, type Change } from "../../app/address";
import { byText } from "../../app/by_text";
import { lastReply } from "../../app/last_reply";
import { orFirst } from "../../app/models";
import { reducedMotion } from "../../app/theme";
import { TileQueue, type Area, type Size, type Spot, type TileAt, type View } from "../../drawing/tiles";
import { asked, type Asked } from "../../engine/asked";
import type { Engine } from "../../engine/engine";
import { OverHttp } from "../../engine/over_http";
import type { FarFindRequest, FarOpenRequest, FarReply, FarRowRequest } from "../../engine/messages";
import { bytesOf, heldTile, type HeldTile } from "./held";
import { matrixOf, type Matrix } from "./plan";
import { benchAddress, farRequest, fewerTokens, fileMark, keyOf, modelOf, modelOfFiles, queryOf, shownOf, spotOf, usualTokens, viewChanges, viewOf, type Changes, type OpenedFile, type Shown } from "./state";
import { bounded, centred, eased, onTheWay } from "./view";
import { mostUnasked, openWalk, pairsOf, type Walk } from "./walk";

/** One matrix with its tiles and its walk; another request makes another one, and nothing of this one is painted then. */
export interface Opened {
  request: FarOpenRequest;
  reply: FarReply;
  matrix: Matrix;
  queue: TileQueue<HeldTile>;
  walk: Walk;
}

export interface Desk {
  engine: Engine;
  /** Tokens that are made up where the address says nothing. */
  usual: number;
  about: Asked<"about">;
  request: ReadonlySignal<FarOpenRequest | null>;
  open: Asked<"far_open">;
  row: Asked<"far_row">;
  find: Asked<"far_find">;
  /** The exact weight below the pointer. */
  hovered: Asked<"far_row">;
  opened: ReadonlySignal<Opened | null>;
  file: Signal<OpenedFile | null>;
  shown: ReadonlySignal<Shown>;
  query: ReadonlySignal<number | null>;
  key: ReadonlySignal<number | null>;
  size: Signal<Size | null>;
  view: Signal<View | null>;
  /** Where a flight ends; tiles are brought for that place. */
  aim: ReadonlySignal<View | null>;
  pointed: Signal<Spot | null>;
  /** Whether all that was painted last is exact, and of the level that is looked at. */
  isExact: Signal<boolean>;
  /** A tile has come. */
  arrived: Signal<number>;
  apply: (changes: Changes, how?: Change) => void;
  /** Moves at once; the address follows when it rests. */
  look: (view: View) => void;
  fly: (view: View) => void;
  goTo: (query: number, key: number, span?: number) => void;
  /** What the reader chose by a click: the pair itself, or the strongest of a cell. */
  choose: (query: number, key: number | null) => void;
  chooseCell: (area: Area) => void;
  /** Why the strongest pair of a cell was not found. */
  cellProblem: ReadonlySignal<string | null>;
  bench: (() => void) | null;
  openFile: (file: OpenedFile) => void;
  close: () => void;
}

const rests = 250; // milliseconds
const flight = 300;

export function openDesk(engine: Engine): Desk {
  const about = asked(engine, "about", signal({}));
  const usual = engine.transport instanceof OverHttp ? usualTokens : fewerTokens;
  const file = signal<OpenedFile | null>(null);
  const request = byText(() => (about.reply.value ? farRequest(address.value.fields, about.reply.value, file.value, usual) : null));
  const open = asked(engine, "far_open", request);
  const size = signal<Size | null>(null);
  const view = signal<View | null>(null);
  const aim = signal<View | null>(null);
  const pointed = signal<Spot | null>(null);
  const arrived = signal(0);
  const isExact = signal(false);

  let last: Opened | null = null;
  const opened = signal<Opened | null>(null);
  const dispose = [
    effect(() => {
      const [reply, asking] = [open.reply.value, open.answered.value];
      untracked(() => {
        last?.queue.close();
        last?.walk.stop();
        last = reply && asking ? openMatrix(engine, asking, reply, arrived) : null;
        view.value = null;
        opened.value = last;
      });
    }),
  ];

  const query = computed(() => (opened.value ? queryOf(address.value.fields, opened.value.reply) : null));
  const key = computed(() => (opened.value ? keyOf(address.value.fields, opened.value.reply) : null));
  const row = asked(engine, "far_row", byText<FarRowRequest>(() => rowRequest(opened.value, query.value, key.value, 8)));
  const hoveredPair = computed(() => {
    const spot = pointed.value;
    const now = view.value;
    return spot && now && now.scale > 1 && spot.query >= 0 && spot.key >= 0 ? { query: Math.floor(spot.query), key: Math.floor(spot.key) } : null;
  });
  const hovered = asked(
    engine,
    "far_row",
    byText<FarRowRequest>(() => {
      const pair = hoveredPair.value;
      const { reply } = opened.value ?? {};
      return pair && reply && pair.query < reply.queries && pair.key < reply.keys ? rowRequest(opened.value, pair.query, pair.key, 0) : null;
    }),
  );
  const find = asked(
    engine,
    "far_find",
    byText<FarFindRequest>(() => {
      const word = address.value.fields["find"];
      return opened.value && word ? { ...opened.value.request, word, most: 2000 } : null;
    }),
  );
  dispose.push(
    effect(() => {
      if (open.reply.value || row.reply.value) lastReply.value = engine.lastTook;
    }),
  );

  // The address says where the reader is, unless he is on the way.
  let settling: ReturnType<typeof setTimeout> | null = null;
  let frame = 0;
  const settle = () => {
    if (settling) clearTimeout(settling);
    settling = null;
    const now = view.peek();
    const here = opened.peek();
    const room = size.peek();
    if (now && here && room) change(viewChanges(now, here.matrix, room));
  };
  const land = () => {
    if (frame) cancelAnimationFrame(frame);
    frame = 0;
  };
  const look = (next: View) => {
    land();
    view.value = aim.value = next;
    if (settling) clearTimeout(settling);
    settling = setTimeout(settle, rests);
  };
  const fly = (to: View, writes = true) => {
    const from = view.peek();
    if (!from || reducedMotion.peek() || typeof requestAnimationFrame === "undefined") {
      look(to);
      return;
    }
    land();
    aim.value = to;
    const since = performance.now();
    const step = (now: number) => {
      const t = Math.min((now - since) / flight, 1);
      view.value = onTheWay(from, to, eased(Math.max(t, 0)));
      frame = t < 1 ? requestAnimationFrame(step) : 0;
      if (t >= 1 && writes) settle();
    };
    frame = requestAnimationFrame(step);
  };
  let shownSize: Size | null = null;
  dispose.push(
    effect(() => {
      const here = opened.value;
      const room = size.value;
      const { fields } = address.value;
      if (!here || !room) return;
      untracked(() => {
        const now = view.peek();
        const wanted = bounded(viewOf(fields, here.matrix, room), here.matrix, room);
        const isFirst = now === null || room !== shownSize;
        shownSize = room;
        if (isFirst) {
          land(); // a flight over another matrix, or another size
          view.value = aim.value = wanted;
        } else if (settling === null && frame === 0 && !isSame(viewChanges(now, here.matrix, room), fields)) fly(wanted, false);
      });
    }),
  );

  const cellProblem = signal<string | null>(null);
  let finding = new AbortController();
  async function chooseStrongest(area: Area): Promise<void> {
    const here = opened.peek();
    finding.abort();
    if (!here) return;
    const { signal: stop } = (finding = new AbortController());
    cellProblem.value = null;
    try {
      const text = `${area.fromQuery}:${area.toQuery},${area.fromKey}:${area.toKey}`;
      const found = await engine.ask("far_largest", { ...here.request, area: text }, { signal: stop });
      if (!stop.aborted && opened.peek() === here) choose(found.query, found.key);
    } catch (error) {
      if (!stop.aborted) cellProblem.value = error instanceof Error ? error.message : String(error);
    }
  }
  const choose = (chosen: number, at: number | null) => change({ q: String(chosen), k: at === null ? null : String(at) });
  return {
    engine,
    usual,
    about,
    request,
    open,
    row,
    find,
    hovered,
    opened,
    file,
    shown: computed(() => shownOf(address.value.fields)),
    query,
    key,
    size,
    view,
    aim,
    pointed,
    isExact,
    arrived,
    apply: (changes, how = "done") => change(changes, how),
    look,
    fly,
    goTo(toQuery, toKey, span = 32) {
      const here = opened.peek();
      const room = size.peek();
      if (here && room) fly(bounded(centred(spotOf(toQuery, toKey), room.width / span, room), here.matrix, room));
    },
    choose,
    chooseCell: (area) => void chooseStrongest(area),
    cellProblem,
    get bench() {
      const here = opened.value;
      const fields = here && query.value !== null ? benchAddress(here.request, here.reply, query.value) : null;
      return fields && (() => move({ page: "step", fields }));
    },
    openFile(one) {
      file.value = one;
      const reply = about.reply.value;
      const model = reply ? modelOf(address.value.fields, reply) || orFirst(modelOfFiles, reply) : modelOfFiles;
      change({ q: null, k: null, at: null, span: null, head: null, find: null, text: null, file: fileMark(one), model });
    },
    close() {
      finding.abort();
      land();
      if (settling) clearTimeout(settling);
      for (const end of dispose) end();
      last?.queue.close();
      last?.walk.stop();
      for (const one of [about, open, row, find, hovered]) one.stop();
    },
  };
}

function openMatrix(engine: Engine, request: FarOpenRequest, reply: FarReply, arrived: Signal<number>): Opened {
  const matrix = matrixOf(reply);
  const queue = new TileQueue<HeldTile>({
    load: async ({ level, row, column, every }: TileAt, stop) =>
      heldTile(await engine.ask("far_tile", { ...request, level, row, column, ...(every > 1 ? { every } : {}) }, { signal: stop, keep: false })),
    bytes: bytesOf,
    changed: () => (arrived.value += 1),
  });
  return { request, reply, matrix, queue, walk: openWalk(engine, request, reply, pairsOf(reply) <= mostUnasked(engine)) };
}

function rowRequest(here: Opened | null, query: number | null, key: number | null, top: number): FarRowRequest | null {
  if (!here || query === null) return null;
  return { ...here.request, query, count: top, ...(key === null ? {} : { at: String(key) }) };
}

function isSame(changes: Changes, fields: Readonly<Record<string, string>>): boolean {
  return Object.entries(changes).every(([name, value]) => (fields[name] ?? null) === value);
}
