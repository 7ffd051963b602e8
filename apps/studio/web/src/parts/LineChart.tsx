// Lines over an axis. One tab stop: arrow keys go along the axis and the values there are said; hovering does the same.

import { useMemo, useRef } from "preact/hooks";
import { letterOf, lineChart, type Chart } from "../drawing/line_chart";
import type { Paint } from "../drawing/marks";
import { svgElements } from "../drawing/svg";
import { useWidth } from "./use_width";
import "./line_chart.css";

export interface LineChartProps {
  chart: Omit<Chart, "width" | "height" | "names" | "at">;
  height: number;
  /** Index into the x of the lines. */
  at: number;
  onAt: (at: number) => void;
  writeX: (value: number) => string;
  writeY: (value: number) => string;
  /** The values of all lines there; of one alone a line of text says it. */
  table?: boolean;
}

const namesFrom = 560; // pixels

export function LineChart({ chart, height, at, onAt, writeX, writeY, table = true }: LineChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const width = Math.max(useWidth(place, 640), 240);
  const xs = Array.from(chart.lines[0]?.x ?? []);
  const last = Math.max(xs.length - 1, 0);
  const index = Math.min(Math.max(at, 0), last);
  const here = xs[index] ?? 0;
  const named = width >= namesFrom;
  const drawing = useMemo(
    () =>
      lineChart({ ...chart, width, height, names: named ? "ends" : "letters", at: { x: here, name: "", dots: true } }),
    [chart, width, height, here],
  );
  const values = chart.lines.map((line) => writeY(Number(line.y[index])));

  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = {
      ArrowRight: index + 1,
      ArrowUp: index + 1,
      ArrowLeft: index - 1,
      ArrowDown: index - 1,
      Home: 0,
      End: last,
    };
    const to = steps[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    onAt(Math.min(Math.max(to, 0), last));
    event.preventDefault();
    event.stopPropagation();
  };
  const follow = (event: PointerEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    onAt(nearest(xs, drawing.valueAt(((event.clientX - box.left) * width) / box.width), chart.x.logarithmic === true));
  };
  return (
    <div class="line-chart" ref={place}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="slider"
        tabindex={0}
        data-own-arrows
        aria-label={`${chart.title}; along ${chart.x.name}`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={index}
        aria-valuetext={`${writeX(here)}: ${chart.lines.map((line, n) => `${line.name} ${values[n]}`).join(", ")}`}
        onKeyDown={onKeyDown}
        onPointerDown={follow}
        onPointerMove={follow}
      >
        {svgElements(drawing.marks)}
      </svg>
      {table ? (
        <table class="values">
          <caption>{writeX(here)}</caption>
          <tbody>
            {chart.lines.map((line, n) => (
              <tr key={line.name}>
                <td>
                  <Stroke paint={line.paint} dashed={line.dashed ?? false} />
                </td>
                <th scope="row">
                  {!named && <b>{letterOf(n)} </b>}
                  {line.name}
                </th>
                <td>{values[n]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <p class="value-line" aria-hidden="true">
          {writeX(here)}: <b>{values[0]}</b>
        </p>
      )}
    </div>
  );
}

/** Which of the sorted or unsorted `xs` is nearest to a value, as the axis measures it. */
export function nearest(xs: readonly number[], value: number, logarithmic: boolean): number {
  const along = (x: number) => (logarithmic ? Math.log(x) : x);
  let best = 0;
  xs.forEach((x, n) => {
    if (Math.abs(along(x) - along(value)) < Math.abs(along(xs[best]!) - along(value))) best = n;
  });
  return best;
}

function Stroke({ paint, dashed }: { paint: Paint; dashed: boolean }) {
  return (
    <svg width="26" height="10" aria-hidden="true">
      {svgElements([
        {
          kind: "line",
          points: [
            [2, 5],
            [24, 5],
          ],
          stroke: paint,
          thick: 3,
          ...(dashed ? { dashed } : {}),
        },
      ])}
    </svg>
  );
}
