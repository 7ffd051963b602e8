// A small matrix as a table of numbers: one tab stop, arrow keys from cell to cell; editable where `edit` is given.

import { useSignal } from "@preact/signals";
import { Fragment } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { ground } from "../app/theme";
import { coloured, textColourOn, type Scale } from "../drawing/colour";
import { nudged, plainNumber, shown } from "../drawing/numbers";
import { sizeOf, valueAt, type Tensor } from "../engine/tensor";
import { Prose } from "./Prose";
import { NumberField, scrubbing } from "./NumberField";
import { nameOf } from "./links";
import { placeAfter } from "./one_cell";
import "./matrix.css";

export interface Before {
  values: Tensor;
  decimals: number;
}

export interface MatrixTableProps {
  name: string;
  title: string;
  meaning: string;
  /** A word or two beside the title. */
  says?: string;
  rows: readonly string[];
  columns: readonly string[];
  firstRow?: number;
  values: Tensor;
  hidden?: Tensor | null;
  decimals: number;
  /** Cells take colours from it; without one they are plain. */
  scale?: Scale | null;
  /** The colour of the title: a query, key or value. */
  kind?: "q" | "k" | "v" | undefined;
  currentRow?: number | null;
  rowLabels?: boolean;
  columnLabels?: boolean;
  before?: Before | null;
  /** A cell to look at: the first difference, or the one that a question is about. */
  marked?: { at: readonly [number, number]; as: "difference" | "asked" } | null;
  /** What each row adds up to, where that is to be seen. */
  sums?: Tensor | null;
  edit?: ((row: number, column: number, value: number, settled: boolean) => void) | undefined;
}

const denseFrom = 6; // columns; with more, cells are smaller and have two decimals

export function MatrixTable(props: MatrixTableProps) {
  const { name, title, rows, columns, firstRow = 0, values, hidden, rowLabels = true, columnLabels = false } = props;
  const active = useSignal<readonly [number, number]>([0, 0]);
  const editing = useSignal<string | null>(null);
  const problem = useSignal<string | null>(null); // of what is typed into the active cell
  const problemId = useId();
  const table = useRef<HTMLTableElement>(null);
  const size = sizeOf(values);

  const refocus = useRef(false);
  useLayoutEffect(() => {
    if (editing.value !== null || !refocus.current) return;
    refocus.current = false;
    focus(...active.value);
  }, [editing.value]);

  const focus = (row: number, column: number) => {
    const next = [Math.min(row, size.rows - 1), Math.min(column, size.columns - 1)] as const;
    active.value = next;
    table.current?.querySelector<HTMLElement>(`[data-at="${next[0]},${next[1]}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (editing.value !== null || event.ctrlKey || event.metaKey) return;
    const [row, column] = active.value;
    const to = event.key.startsWith("Page") ? null : placeAfter(event.key, { row, column }, size.rows, size.columns);
    if (to) focus(to.row, to.column);
    else if (props.edit && (event.key === "Enter" || /^[0-9.−-]$/.test(event.key))) {
      editing.value = event.key === "Enter" ? "" : event.key;
    } else if (event.key === "Enter") {
      table.current?.querySelector<HTMLElement>(`[data-at="${row},${column}"]`)?.click();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const isDense = size.columns > denseFrom;
  const count = hidden ? Array.from(hidden.values, Number).filter((one) => one === 1).length : 0;
  const summary = `${props.meaning}; ${size.rows} × ${size.columns}, ${count === 0 ? "none" : count} hidden`;
  const activeRow = Math.min(active.value[0], size.rows - 1);
  const activeColumn = Math.min(active.value[1], size.columns - 1);

  return (
    <div class={`matrix ${props.edit ? "editable" : ""} ${isDense ? "dense" : ""}`} data-matrix={name}>
      <div class={`matrix-title ${props.kind ?? ""}`} title={props.meaning}>
        <Prose text={title} />
        {props.says && <small>{props.says}</small>}
      </div>
      <table role="grid" ref={table} aria-label={`${title}: ${summary}`} onKeyDown={onKeyDown}>
        <thead class={columnLabels ? "" : "said"}>
          <tr>
            {rowLabels && <td />}
            {columns.map((column, n) => (
              <th key={n} scope="col">
                {column || <span class="said">{title}</span>}
              </th>
            ))}
            {props.sums && <th scope="col">Σ</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((label, row) => (
            <Fragment key={row}>
              <tr class={props.currentRow === row ? "current" : ""}>
                <th scope="row" class={rowLabels ? "" : "said"} title={label}>
                  {label}
                </th>
                {columns.map((column, at) => {
                  const isActive = row === activeRow && at === activeColumn;
                  return (
                    <Cell
                      key={at}
                      {...props}
                      decimals={isDense ? Math.min(props.decimals, 2) : props.decimals}
                      row={row}
                      column={at}
                      number={nameOf(name, firstRow + row, at)}
                      label={`${label}${column && columnLabels ? `, ${column}` : `, ${at + 1}`}`}
                      isActive={isActive}
                      typed={isActive ? editing.value : null}
                      problemId={isActive && problem.value !== null ? problemId : undefined}
                      onProblem={(text) => (problem.value = text)}
                      onEdit={(text) => {
                        problem.value = null;
                        active.value = [row, at];
                        editing.value = text;
                      }}
                      onDone={(keyboard) => {
                        refocus.current = keyboard;
                        editing.value = null;
                      }}
                    />
                  );
                })}
                {props.sums && <td class="sum">{shown(Number(props.sums.values[row] ?? NaN), 3)}</td>}
              </tr>
              {problem.value !== null && row === activeRow && (
                <Refused id={problemId} columns={columns.length + Number(rowLabels) + (props.sums ? 1 : 0)} problem={problem.value} />
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Below the row: what is wrong with the number that is typed there. */
function Refused({ id, columns, problem }: { id: string; columns: number; problem: string }) {
  return (
    <tr class="number-problem">
      <td colSpan={columns}>
        <p class="problem" role="alert" id={id}>
          {problem}
        </p>
      </td>
    </tr>
  );
}

interface CellProps extends MatrixTableProps {
  row: number;
  column: number;
  number: string;
  label: string;
  isActive: boolean;
  typed: string | null;
  onEdit: (typed: string) => void;
  onDone: (keyboard: boolean) => void;
  onProblem: (problem: string | null) => void;
  problemId: string | undefined;
}

function Cell(props: CellProps) {
  const { row, column, values, decimals, edit, typed } = props;
  const value = valueAt(values, row, column);
  const isHidden = props.hidden ? valueAt(props.hidden, row, column) === 1 : false;
  const text = shown(value, decimals);
  const was = wasText(props, text);
  const background = props.scale && !isHidden && Number.isFinite(value) ? coloured(props.scale, value, ground.value) : null;
  const style = background ? { background, color: textColourOn(background) } : {};
  const marked = props.marked?.at[0] === row && props.marked.at[1] === column ? props.marked.as : null;
  const classes = [isHidden && "hidden-pair", Number.isNaN(value) && "nan", was && "changed", marked];

  if (edit && typed !== null) {
    return (
      <td role="gridcell" class="being-edited" data-name={props.number}>
        <NumberField
          value={value}
          typed={typed}
          label={props.label}
          onChange={(next, settled) => edit(row, column, next, settled)}
          onDone={props.onDone}
          onProblem={props.onProblem}
          problemId={props.problemId}
        />
      </td>
    );
  }
  return (
    <td
      role="gridcell"
      class={classes.filter(Boolean).join(" ")}
      style={style}
      tabIndex={props.isActive ? 0 : -1}
      data-name={props.number}
      data-at={`${row},${column}`}
      aria-label={`${props.label}, ${text}${isHidden ? ", hidden" : ""}${was ? `, was ${was}` : ""}`}
      onPointerDown={
        edit
          ? scrubbing({
              value,
              move: (start, steps) => nudged(start, steps),
              onChange: (next, settled) => edit(row, column, next, settled),
              onTap: (event) => {
                if (event.pointerType === "mouse") props.onEdit("");
              },
            })
          : undefined
      }
    >
      <span>{text}</span>
      {was && (
        <small>
          <span class="said">was </span>
          <s>{was}</s>
        </small>
      )}
    </td>
  );
}

function wasText({ before, row, column }: CellProps, text: string): string | null {
  if (!before) return null;
  const size = sizeOf(before.values);
  if (row >= size.rows || column >= size.columns) return null;
  const was = shown(valueAt(before.values, row, column), before.decimals);
  return plainNumber(Number(was)) === plainNumber(Number(text)) || was === text ? null : was;
}
