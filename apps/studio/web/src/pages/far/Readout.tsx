// Below the picture: what a cell and its colour stand for, and what is below the pointer.

import { grouped } from "../../drawing/amounts";
import { cellSide, levelAt } from "../../drawing/tiles";
import { ranged, type Shown } from "./state";
import { cellValue, oneIn, weightText, type CellValue } from "./values";
import { LogLegend } from "./Toolbar";
import { ordinal } from "./WalkLine";
import { whereText } from "./Picture";
import type { Desk, Opened } from "./desk";

export function Readout({ desk, here }: { desk: Desk; here: Opened }) {
  const view = desk.view.value;
  if (!view) return null;
  const side = cellSide(levelAt(view.scale, here.matrix.levels));
  return (
    <div class="far-readout">
      <div class="far-key">
        <p class="note">{cellText(side, desk.shown.value)}</p>
        <LogLegend />
      </div>
      <p class="far-below">
        <Below desk={desk} here={here} />
      </p>
      <p id="far-where" class="said" role="status">
        {whereText(desk)}
      </p>
    </div>
  );
}

/** "1 cell = 32 × 32 pairs, largest weight" */
export function cellText(side: number, shown: Shown): string {
  if (side === 1) return "1 cell = 1 pair of a query and a key";
  return `1 cell = ${grouped(side)} × ${grouped(side)} pairs, ${shown} weight`;
}

function Below({ desk, here }: { desk: Desk; here: Opened }) {
  const spot = desk.pointed.value;
  const view = desk.view.value;
  void desk.arrived.value;
  if (!spot || !view) return <span class="soft">Point at a cell for its weight; a click takes it.</span>;
  const value = cellValue(spot, view, here.matrix, (tile) => here.queue.get(tile), here.walk.whole.value);
  if (!value) return <span class="soft">Outside of the matrix.</span>;
  const isPair = value.toQuery - value.fromQuery === 1;
  const exact = desk.hovered.reply.value;
  const known = exact && isPair && exact.query === value.fromQuery && exact.at[0]?.key === value.fromKey ? exact : null;
  return (
    <>
      <b class="q">
        {ranged("queries", value.fromQuery, value.toQuery)}
        {known && ` “${known.word}”`}
      </b>
      {" × "}
      <b class="k">
        {ranged("keys", value.fromKey, value.toKey)}
        {known && ` “${known.at[0]!.word}”`}
      </b>
      {": "}
      {known && !value.hidden ? (
        <>
          <b>{weightText(known.at[0]!.weight)}</b> <span class="soft">{oneIn(known.at[0]!.weight)}</span>
        </>
      ) : (
        <CellWords value={value} />
      )}
    </>
  );
}

function CellWords({ value }: { value: CellValue }) {
  if (value.hidden) return <>hidden by the mask</>;
  const isPair = value.toQuery - value.fromQuery === 1;
  if (isPair) return <b>{weightText(value.largest, 2)}</b>;
  return (
    <>
      largest <b>{weightText(value.largest, 2)}</b>, mean {weightText(value.mean, 2)}
      {value.visible < 1 && `, ${Math.round(100 * value.visible)} % seen`}
      {value.every > 1 && `, sampled: every ${ordinal(value.every)} query`}
    </>
  );
}
