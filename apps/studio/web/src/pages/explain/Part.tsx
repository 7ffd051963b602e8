// One step, the query written out, or one answer to why.

import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Cell, ExplainedMap, ExplainedPart, Table } from "../../engine/messages";
import type { Scale } from "../../drawing/colour";
import { shown } from "../../drawing/numbers";
import { valueAt, type Tensor } from "../../engine/tensor";
import { Formula } from "../../parts/Formula";
import { NamedHeatmap } from "../../parts/NamedHeatmap";
import { parsedName, pointed } from "../../parts/links";
import { MatrixTable } from "../../parts/MatrixTable";
import { Prose } from "../../parts/Prose";
import { Picture } from "./Picture";

interface PartProps {
  id: string;
  part: ExplainedPart;
  images: readonly Tensor[];
  /** The address leads to it. */
  isAsked: boolean;
}

/** A why is closed until it is asked; on paper it is there. */
export function Part({ id, part, images, isAsked }: PartProps) {
  const isWhy = part.kind === "why";
  const open = useSignal(!isWhy || isAsked);
  useEffect(() => {
    if (isAsked) open.value = true;
  }, [isAsked]);
  return (
    <section id={id} class={`card part ${part.kind} ${open.value ? "" : "folded"}`}>
      <h2>
        {part.number > 0 && <span class="part-number">{part.number}</span>}
        {isWhy ? (
          <button type="button" class="part-fold" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
            <Prose text={part.title} />
          </button>
        ) : (
          <span>
            <Prose text={part.title} />
          </span>
        )}
      </h2>
      {part.text && (
        <p class="part-text">
          <Prose text={part.text} />
        </p>
      )}
      {part.finding && (
        <p class="finding">
          Found: <Prose text={part.finding} />.
        </p>
      )}
      {(part.formulas.length > 0 || part.shape) && (
        <div class="part-formulas">
          {part.formulas.map((formula) => (
            <Formula key={formula.text} formula={formula} />
          ))}
          {part.shape && <code>{part.shape}</code>}
        </div>
      )}
      {part.is_folded ? (
        part.maps.map((map) => <Folded key={map.id} part={part} map={map} />)
      ) : (
        <div class="part-maps">
          {part.maps.map((map) => (
            <Matrix key={map.id} name={`${part.kind}_${part.id}_${map.id}`} map={map} />
          ))}
        </div>
      )}
      {part.pictures.length > 0 && (
        <div class="part-pictures">
          {part.pictures.map((picture) => (
            <Picture key={picture.id} picture={picture} images={images} />
          ))}
        </div>
      )}
      {part.tables.map((table, n) => (
        <PlainTable key={n} table={table} />
      ))}
      {part.notes.length > 0 && (
        <ul class="part-notes">
          {part.notes.map((note) => (
            <li key={note}>
              <Prose text={note} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Folded({ part, map }: { part: ExplainedPart; map: ExplainedMap }) {
  const open = useSignal(false);
  return (
    <details onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>{map.title}</summary>
      {open.value && <Matrix name={`${part.kind}_${part.id}_${map.id}`} map={map} />}
    </details>
  );
}

const mostColumns = 12;
const mostCells = 256;
const roomOfSquares = 420; // pixels of a large matrix; one that is wider has the page's width

function scaleOf(map: ExplainedMap): Scale {
  return { map: map.colours === "diverging" ? "diverging" : "sequential", least: map.low, most: map.high };
}

function Matrix({ name, map }: { name: string; map: ExplainedMap }) {
  const meaning = [map.value_name, map.row_axis && `a row for each ${map.row_axis}`].filter(Boolean).join(", ");
  const given = { name, title: map.title, meaning: meaning || map.title, rows: map.rows, columns: map.columns };
  const isWide = map.columns.length > 2 * map.rows.length;
  const isTable = map.columns.length <= mostColumns && map.rows.length * map.columns.length <= mostCells;
  return (
    <figure class={isWide ? "part-map wide" : "part-map"}>
      {isTable ? (
        <MatrixTable {...given} values={map.values} hidden={map.hidden} decimals={map.decimals} scale={scaleOf(map)} columnLabels />
      ) : (
        <NamedHeatmap {...given} values={map.values} hidden={map.hidden} decimals={map.decimals} scale={scaleOf(map)} room={isWide ? Infinity : roomOfSquares} columnLabels onPin={() => undefined} />
      )}
      <Pointed name={name} map={map} />
    </figure>
  );
}

/** The number under the pointer with more digits than its cell has room for. */
function Pointed({ name, map }: { name: string; map: ExplainedMap }) {
  const said = useComputed(() => {
    const at = parsedName(pointed.value ?? "");
    if (at?.matrix !== name) return "\u00a0";
    const isHidden = map.hidden !== null && valueAt(map.hidden, at.row, at.column) === 1;
    const number = isHidden ? "hidden" : shown(valueAt(map.values, at.row, at.column), 6);
    return `${map.rows[at.row] ?? ""} · ${map.columns[at.column] ?? ""}: ${number}`;
  });
  return (
    <figcaption aria-hidden="true">{said}</figcaption>
  );
}

function PlainTable({ table }: { table: Table }) {
  const isNumber = (column: number) => table.rows.some((row) => row[column]?.number !== null && row[column]?.number !== undefined);
  const cell = (one: Cell, n: number) => (
    <td key={n} class={one.number === null ? "" : "number"} title={one.number === null ? undefined : String(one.number)}>
      {one.text}
    </td>
  );
  return (
    <figure class="part-table" tabIndex={0}>
      {table.title && <figcaption>{table.title}</figcaption>}
      <table>
        <thead>
          <tr>
            {table.columns.map((column, n) => (
              <th key={n} scope="col" class={isNumber(n) ? "number" : ""}>
                <Prose text={column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, n) => (
            <tr key={n} class={table.faint_rows.includes(n) ? "faint" : ""}>
              {row.map(cell)}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
