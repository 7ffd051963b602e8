// Beside the map: how much is kept and computed, which rows see nothing, what the cell under the pointer stands for.

import { useComputed } from "@preact/signals";
import { plainFragment } from "../../app/address";
import { ground } from "../../app/theme";
import { grouped, percent } from "../../drawing/amounts";
import type { Cell } from "../../drawing/grid";
import { svgElements } from "../../drawing/svg";
import { Said } from "./Said";
import { isPairwise, meaningOf, type CellClass, type DrawnMask, type Span } from "./mask_cells";
import { swatch } from "./mask_marks";
import { benchFields } from "./mask_state";

export function MaskFacts({ reply, cell, kept }: { reply: DrawnMask; cell: Cell | null; kept: boolean }) {
  return (
    <div class="mask-facts">
      {reply.blind_rows > 0 && <BlindRows reply={reply} />}
      <section class="card shares" aria-label="How much is kept">
        <Share
          name="kept"
          share={reply.coverage}
          detail={`${grouped(reply.pairs_kept)} of ${grouped(reply.pairs_total)} pairs`}
        />
        <Share
          name="computed"
          share={reply.cost}
          detail={`${grouped(reply.full + reply.partial)} of ${grouped(reply.tiles)} tiles`}
        />
        <ul class="classes">
          <ClassLine kind="skip" count={reply.skip} says="skipped: no pair is seen" />
          <ClassLine kind="full" count={reply.full} says="full: every pair is seen, nothing to mask" />
          <ClassLine kind="partial" count={reply.partial} says="partial: computed, then masked" />
        </ul>
        {reply.blind_rows === 0 && <p class="hint">Rows that see nothing: 0</p>}
      </section>
      <CellCard reply={reply} cell={cell} kept={kept} />
      <section class="card">
        <Said
          seen={
            <>
              Rows are queries, columns are keys; {sizeWords(reply)} The{" "}
              {ground.value === "dark" ? "brighter" : "darker"}, the more of its pairs are seen; hatched is hidden.
            </>
          }
          finding={reply.sentence}
          numbers={
            <>
              kept = {grouped(reply.pairs_kept)} / {grouped(reply.pairs_total)} = <b>{percent(reply.coverage)}</b>
              <br />
              computed = ({grouped(reply.full)} full + {grouped(reply.partial)} partial) / {grouped(reply.tiles)} ={" "}
              <b>{percent(reply.cost)}</b>
            </>
          }
        />
      </section>
    </div>
  );
}

function sizeWords(reply: DrawnMask): string {
  if (isPairwise(reply))
    return `a cell is one pair, and frames are tiles of ${reply.tile_queries} × ${reply.tile_keys}.`;
  const tile = `${reply.tile_queries} × ${reply.tile_keys}`;
  if (reply.cell_queries === reply.tile_queries && reply.cell_keys === reply.tile_keys)
    return `a cell is a tile of ${tile} pairs.`;
  return `a cell is a block of ${grouped(reply.cell_queries)} × ${grouped(reply.cell_keys)} pairs, in tiles of ${tile}.`;
}

function Share({ name, share, detail }: { name: string; share: number; detail: string }) {
  return (
    <div class="share">
      <div>
        <span class="share-name">{name}</span> <b>{percent(share)}</b>
      </div>
      <div class="share-bar" aria-hidden="true">
        <div style={{ width: `${100 * share}%` }} />
      </div>
      <small>{detail}</small>
    </div>
  );
}

export function ClassLine({ kind, count, says }: { kind: CellClass; count: number; says: string }) {
  const marks = useComputed(() => swatch(kind, ground.value)).value;
  return (
    <li>
      <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
        {svgElements(marks)}
      </svg>
      <span>
        <b>{grouped(count)}</b> {says}
      </span>
    </li>
  );
}

const listed = 8;

function BlindRows({ reply }: { reply: DrawnMask }) {
  const others = reply.blind_rows - reply.first_blind.length;
  return (
    <section class="card blind" aria-labelledby="blind-title">
      <h2 id="blind-title">
        Rows that see nothing: <b>{grouped(reply.blind_rows)}</b>
      </h2>
      <p>Softmax has nothing to share out there. Tap one to see it on the bench, with −1e9 beside −∞:</p>
      <ul>
        {reply.first_blind.slice(0, listed).map((query) => (
          <li key={query}>
            <a class="chip" href={`#${plainFragment({ page: "step", fields: benchFields(reply, query) })}`}>
              query {grouped(query)}
            </a>
          </li>
        ))}
        {others > 0 && <li class="hint">and {grouped(others)} more</li>}
      </ul>
    </section>
  );
}

function range({ first, last }: Span, one: string, many: string): string {
  return first === last ? `${one} ${grouped(first)}` : `${many} ${grouped(first)} to ${grouped(last)}`;
}

const classWords: Record<CellClass, string> = { skip: "skipped", full: "full", partial: "partial" };

/** A cell in words: its queries, its keys, what is kept of it, what is done with it. */
export function cellWords(reply: DrawnMask, cell: Cell): string[] {
  const { queries, keys, share, kind } = meaningOf(reply, cell);
  const pairs = isPairwise(reply);
  const kept = pairs
    ? share === 1
      ? "seen"
      : "hidden"
    : share === 0
      ? "hidden"
      : share === 1
        ? "all seen"
        : `${percent(share)} seen`;
  const block = queries.tiles * keys.tiles;
  const what = pairs
    ? `in a ${classWords[kind]} tile`
    : block === 1
      ? `${classWords[kind]} tile`
      : `${grouped(block)} tiles, ${kind === "partial" ? "not all alike" : `all ${classWords[kind]}`}`;
  return [range(queries, "query", "queries"), range(keys, "key", "keys"), kept, what];
}

const done: Record<CellClass, string> = {
  skip: "Never computed: neither scores nor attention weights of it exist.",
  full: "Computed without asking the mask.",
  partial: "Computed, and what is hidden is masked before softmax.",
};

function CellCard({ reply, cell, kept }: { reply: DrawnMask; cell: Cell | null; kept: boolean }) {
  if (!cell) {
    return (
      <section class="card cell-card">
        <p class="hint">Point at a cell, or tap it, to see which pairs it stands for.</p>
      </section>
    );
  }
  const [queries = "", keys = "", seen = "", what = ""] = cellWords(reply, cell);
  const { kind, queries: q, keys: k } = meaningOf(reply, cell);
  return (
    <section class="card cell-card" aria-label="The cell">
      <div>
        <b class="q">{queries}</b> × <b class="k">{keys}</b>
      </div>
      <div class="cell-share">
        {seen} <small>{what}</small>
      </div>
      {q.tiles * k.tiles === 1 && <p class="hint">{done[kind]}</p>}
      {!kept && <p class="hint no-touch">Click to keep it here.</p>}
    </section>
  );
}
