// Everything the page Heads shows follows from the address; this holds the questions that stand between.

import { computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { address, change, move, type Change, type Fields } from "../../app/address";
import { byText } from "../../app/by_text";
import { lastReply } from "../../app/last_reply";
import { asked, type Asked } from "../../engine/asked";
import type { Engine } from "../../engine/engine";
import type { AboutExample, HeadRequest, HeadsRequest, HeadsSite, PairRequest } from "../../engine/messages";
import { benchRequest } from "../step/state";
import type { Head } from "../../parts/HeadPicker";
import {
  benchAddress,
  cellChanges,
  chosenHead,
  exampleOf,
  headName,
  headRequest,
  hidesSpecial,
  lockedCell,
  pairRequest,
  readingChanges,
  readingOf,
  siteOf,
  type Cell,
  type Changes,
  type HeadAt,
} from "./state";

export interface Desk {
  engine: Engine;
  about: Asked<"about">;
  heads: Asked<"heads">;
  head: Asked<"head">;
  pair: Asked<"pair">;
  reading: ReadonlySignal<HeadsRequest | null>;
  example: ReadonlySignal<AboutExample | null>;
  /** The head of the address; `at` is the one pointed at in the grid, if there is one. */
  chosen: ReadonlySignal<HeadAt | null>;
  at: ReadonlySignal<HeadAt | null>;
  site: ReadonlySignal<HeadsSite | null>;
  previewed: Signal<HeadAt | null>;
  /** The pair pointed at, and the one that a click has locked. */
  hover: Signal<Cell | null>;
  locked: ReadonlySignal<Cell | null>;
  shown: ReadonlySignal<Cell | null>;
  apply: (changes: Changes, how?: Change) => void;
  choose: (at: HeadAt) => void;
  /** What [ ] { } go through. */
  picked: () => { layers: number; heads: number; chosen: Head; onPick: (head: Head) => void };
  lock: (cell: Cell | null) => void;
  /** Whether a query's row can be laid on the bench: in a file, of what was laid there when it was made. */
  canBench: (query: number) => boolean;
  canHideSpecial: () => boolean;
  bench: (query: number) => void;
  /** Gives up on the text that is being read: the page stays at the one before. */
  stop: () => void;
  close: () => void;
}

export function openDesk(engine: Engine): Desk {
  const about = asked(engine, "about", signal({}));
  const reading = byText(() => (about.reply.value ? readingOf(address.value.fields, about.reply.value) : null));
  const heads = asked(engine, "heads", reading);
  // While another text is read, the page stays as it is: at the head and the pair of the text that it shows.
  let kept: Fields = {};
  const fields = computed(() => {
    const isRead = JSON.stringify(reading.value) === JSON.stringify(heads.answered.value);
    if (isRead || heads.error.value) kept = address.value.fields;
    return kept;
  });
  const example = computed(() =>
    about.reply.value && heads.answered.value ? exampleOf(heads.answered.value, about.reply.value) : null,
  );
  const previewed = signal<HeadAt | null>(null);
  const hover = signal<Cell | null>(null);

  const chosen = byText(() => {
    const reply = heads.reply.value;
    return reply ? chosenHead(fields.value, example.value, reply) : null;
  });
  const at = computed(() => previewed.value ?? chosen.value);
  const site = computed(() => (heads.reply.value && at.value ? siteOf(heads.reply.value, at.value.site) : null));
  const headAsked = byText<HeadRequest>(() => {
    const read = heads.answered.value;
    return read && at.value ? headRequest(read, at.value, hidesSpecial(fields.value)) : null;
  });
  const head = asked(engine, "head", headAsked);
  const locked = byText(() =>
    chosen.value && site.value ? lockedCell(fields.value, example.value, chosen.value, site.value) : null,
  );
  const shown = computed(() => {
    const cell = hover.value ?? locked.value;
    return cell && fits(cell, site.value) ? cell : null;
  });
  const pairAsked = byText<PairRequest>(() => {
    const request = headAsked.value && shown.value ? pairRequest(headAsked.value, shown.value) : null;
    return request && engine.answers("pair", request) ? request : null;
  });
  const benchFields = (query: number) => {
    const read = heads.answered.value;
    return read && !read.chat && chosen.value ? benchAddress(read, chosen.value, query) : null;
  };
  const canBench = (query: number) => {
    const fields = benchFields(query);
    return fields !== null && engine.answers("bench", benchRequest(fields));
  };
  const pair = asked(engine, "pair", pairAsked);

  const stopTimes = effect(() => {
    if (heads.reply.value || head.reply.value) lastReply.value = engine.lastTook;
  });

  const choose = (next: HeadAt) => {
    const sameSite = next.site === chosen.value?.site;
    previewed.value = null;
    change({ head: headName(next), ...(sameSite ? keptCell(locked.peek()) : { q: null, k: null }) });
  };
  return {
    engine,
    about,
    heads,
    head,
    pair,
    reading,
    example,
    chosen,
    at,
    site,
    previewed,
    hover,
    locked,
    shown,
    apply: (changes, how = "done") => change(changes, how),
    choose,
    picked: () => {
      const { layers = 1, heads: count = 1, site: name = "" } = site.value ?? {};
      const now = chosen.value ?? { layer: 0, head: 0 };
      return { layers, heads: count, chosen: now, onPick: (next) => name && choose({ site: name, ...next }) };
    },
    lock: (cell) => change(cellChanges(cell), "quiet"),
    canBench,
    canHideSpecial: () => {
      const read = heads.answered.value;
      return read !== null && chosen.value !== null && engine.answers("head", headRequest(read, chosen.value, true));
    },
    bench: (query) => {
      const fields = benchFields(query);
      if (fields && canBench(query)) move({ page: "step", fields });
    },
    stop: () => {
      heads.cancel();
      const read = heads.answered.value;
      if (read) change(readingChanges(read));
    },
    close: () => {
      stopTimes();
      for (const one of [about, heads, head, pair]) one.stop();
    },
  };
}

function fits({ query, key }: Cell, site: HeadsSite | null): boolean {
  return site !== null && query < site.queries.length && key < site.keys.length;
}

// The same pair in another head: that is how heads are compared.
function keptCell(cell: Cell | null): Changes {
  return cell ? cellChanges(cell) : {};
}
