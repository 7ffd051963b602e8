// Lines over an axis. One tab stop: arrow keys go along the axis and the values there are said; hovering does the same.

import { useMemo, useRef } from "preact/hooks";
import { chartDrawing, chartFrame, letterOf, nearestIndex, type Chart } from "../drawing/chart_marks";
import type { Paint } from "../drawing/marks";
import { svgElements } from "../drawing/svg";
import { useWidth } from "./use_width";
import "./line_chart.css";

export interface LineChartProps {
  chart: Omit<Chart, "named" | "at">;
  height: number;
  /** Index into the x of the lines. */
  at: number;
  onAt: (at: number) => void;
  writeX: (value: number) => string;
  writeY: (value: number) => string;
  /** One line needs no table of values. */
  table?: boolean;
}

const namesFrom = 560; // pixels

export function LineChart({ chart: given, height, at, onAt, writeX, writeY, table = true }: LineChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const width = Math.max(useWidth(place, 640), 240);
  const xs = given.lines[0]?.x ?? [];
  const index = Math.min(Math.max(at, 0), Math.max(xs.length - 1, 0));
  const chart: Chart = { ...given, named: width >= namesFrom, at: xs[index] ?? null };
  const drawing = useMemo(() => chartDrawing(chart, width, height), [given, width, height, index]);
  const values = given.lines.map((line) => `${line.name} ${writeY(line.y[index] ?? NaN)}`).join(", ");

  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowRight: index + 1, ArrowUp: index + 1, ArrowLeft: index - 1, ArrowDown: index - 1, Home: 0, End: xs.length - 1 };
    const to = steps[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    onAt(Math.min(Math.max(to, 0), xs.length - 1));
    event.preventDefault();
    event.stopPropagation();
  };
  const follow = (event: PointerEvent) => {
    if (event.type === "pointermove" && event.pointerType === "touch" && event.buttons === 0) return;
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    onAt(nearestIndex(chart, chartFrame(chart, width, height), ((event.clientX - box.left) * width) / box.width));
  };
  return (
    <div class="line-chart" ref={place}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="slider"
        tabIndex={0}
        data-own-arrows
        aria-label={`${given.title}; along ${given.x.name}`}
        aria-valuemin={0}
        aria-valuemax={Math.max(xs.length - 1, 0)}
        aria-valuenow={index}
        aria-valuetext={`${writeX(xs[index] ?? 0)}: ${values}`}
        onKeyDown={onKeyDown}
        onPointerDown={follow}
        onPointerMove={follow}
      >
        {svgElements(drawing.marks)}
      </svg>
      {table ? (
        <table class="values">
          <caption>{writeX(xs[index] ?? 0)}</caption>
          <tbody>
            {given.lines.map((line, n) => (
              <tr key={line.name}>
                <td>
                  <Stroke paint={line.paint} dashed={line.dashed ?? false} />
                </td>
                <th scope="row">
                  {chart.named ? "" : <b>{letterOf(n)}</b>} {line.name}
                </th>
                <td>{writeY(line.y[index] ?? NaN)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <p class="value-line" aria-hidden="true">
          {writeX(xs[index] ?? 0)}: <b>{writeY(given.lines[0]?.y[index] ?? NaN)}</b>
        </p>
      )}
    </div>
  );
}

function Stroke({ paint, dashed }: { paint: Paint; dashed: boolean }) {
  return (
    <svg width="26" height="10" aria-hidden="true">
      {svgElements([{ kind: "line", points: [[2, 5], [24, 5]], stroke: paint, thick: 3, ...(dashed ? { dashed } : {}) }])}
    </svg>
  );
}
