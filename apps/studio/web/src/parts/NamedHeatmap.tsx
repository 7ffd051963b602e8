// A matrix of the bench that has too many numbers for a table. Its numbers have names, by which they are linked.

import { signal, type Signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Scale } from "../drawing/colour";
import { sizeOf, type Tensor } from "../engine/tensor";
import { Heatmap } from "./Heatmap";
import { Legend } from "./Legend";
import { nameOf, parsedName, pointed } from "./links";
import type { Place } from "./one_cell";
import { Prose } from "./Prose";
import type { Shading } from "./shade";

export interface NamedHeatmapProps {
  name: string;
  title: string;
  meaning: string;
  says?: string;
  kind?: "q" | "k" | "v" | undefined;
  rows: readonly string[];
  columns: readonly string[];
  columnLabels?: boolean;
  firstRow?: number;
  values: Tensor;
  hidden?: Tensor | null;
  /** What each row adds up to, where that is to be seen. */
  sums?: Tensor | null;
  decimals: number;
  scale: Scale;
  /** Where there is a choice of scales: the one that is chosen, and what a click on the legend does. */
  shading?: Shading | null;
  onScale?: (() => void) | undefined;
  /** Pixels that there are for it. */
  room: number;
  /** The height of a row, for vectors as strips. */
  rowTall?: number | undefined;
  onPin: (name: string) => void;
}

const nothing = signal<Place | null>(null);

export function NamedHeatmap(props: NamedHeatmapProps) {
  const { name, title, meaning, firstRow = 0, hidden, sums } = props;
  const { rows, columns } = sizeOf(props.values);
  const place = useMemo(() => placeIn(name, firstRow), [name, firstRow]);
  const count = hidden ? Array.from(hidden.values, Number).filter((one) => one === 1).length : 0;
  return (
    <div class="named-heatmap">
      <div class={`matrix-title ${props.kind ?? ""}`} title={meaning}>
        <Prose text={title} />
        {props.says && <small>{props.says}</small>}
      </div>
      <Heatmap
        {...props}
        columnLabels={props.columnLabels ?? false}
        values={props.values.values as ArrayLike<number>}
        hidden={hidden ? (hidden.values as ArrayLike<number>) : null}
        rowTotals={sums ? (sums.values as ArrayLike<number>) : null}
        largest={44}
        summary={`${title}: ${meaning}; ${rows} × ${columns}, ${count === 0 ? "none" : count} hidden`}
        pointed={place}
        locked={nothing}
        onLock={(at) => at && props.onPin(nameOf(name, firstRow + at.row, at.column))}
      />
      <Legend
        scale={props.scale}
        decimals={Math.min(props.decimals, 2)}
        what={title}
        {...(props.shading ? { name: props.shading.name, ends: props.shading.ends, onClick: props.onScale } : {})}
      />
    </div>
  );
}

/** What is pointed at anywhere, as a place of this matrix. */
function placeIn(name: string, firstRow: number): Signal<Place | null> {
  const place = (full: string | null): Place | null => {
    const at = parsedName(full ?? "");
    return at?.matrix === name && at.row >= firstRow ? { row: at.row - firstRow, column: at.column } : null;
  };
  return {
    get value() {
      return place(pointed.value);
    },
    set value(at: Place | null) {
      pointed.value = at && nameOf(name, firstRow + at.row, at.column);
    },
    peek: () => place(pointed.peek()),
  } as Signal<Place | null>;
}
