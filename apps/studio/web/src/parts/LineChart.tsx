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
  /** Places along the axis that can be chosen; the x of the lines where they are left out. */
  stops?: readonly number[];
  /** Index into the stops. */
  at: number;
  /** While it is dragged `settled` is false. */
  onAt: (at: number, settled: boolean) => void;
  /** Hovering does nothing: a place is chosen by pressing. */
  pressed?: boolean;
  writeX: (value: number) => string;
  writeY: (value: number) => string;
  /** What stands below: the values of all lines there, that of the first as a line of text, or nothing. */
  below?: "table" | "line" | "nothing";
}

const namesFrom = 560; // pixels

export function LineChart(props: LineChartProps) {
  const { chart, height, at, onAt, pressed = false, writeX, writeY, below = "table" } = props;
  const place = useRef<HTMLDivElement>(null);
  const width = Math.max(useWidth(place, 640), 240);
  const xs = props.stops ?? Array.from(chart.lines[0]?.x ?? []);
  const last = Math.max(xs.length - 1, 0);
  const index = Math.min(Math.max(at, 0), last);
  const here = xs[index] ?? 0;
  const named = width >= namesFrom;
  const drawing = useMemo(() => {
    const names = below === "nothing" ? "above" : named ? "ends" : "letters";
    const mark = xs.length === 0 ? {} : { at: props.stops ? { x: here, name: writeX(here) } : { x: here, name: "", dots: true } };
    return lineChart({ ...chart, width, height, names, ...mark });
  }, [chart, width, height, here, xs.length]);
  const values = chart.lines.map((line) => writeY(Number(line.y[Array.from(line.x).indexOf(here)])));

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
    onAt(Math.min(Math.max(to, 0), last), true);
    event.preventDefault();
    event.stopPropagation();
  };
  const follow = (event: PointerEvent, settled = false) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    onAt(nearest(xs, drawing.valueAt(((event.clientX - box.left) * width) / box.width), chart.x.logarithmic === true), settled);
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
        aria-valuetext={spoken(writeX(here), chart.lines.map((line, n) => [line.name, values[n] ?? ""]))}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          if (pressed) event.currentTarget.setPointerCapture(event.pointerId);
          follow(event);
        }}
        onPointerMove={(event) => (!pressed || event.buttons > 0) && follow(event)}
        onPointerUp={(event) => pressed && follow(event, true)}
      >
        {svgElements(drawing.marks)}
      </svg>
      {below === "table" && (
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
      )}
      {below === "line" && (
        <p class="value-line" aria-hidden="true">
          {writeX(here)}: <b>{values[0]}</b>
        </p>
      )}
    </div>
  );
}

/** "step 400: held out 0.021"; a line that has no point there says nothing. */
function spoken(where: string, values: readonly (readonly [string, string])[]): string {
  const known = values.filter(([, value]) => value !== "NaN");
  return known.length === 0 ? where : `${where}: ${known.map(([name, value]) => `${name} ${value}`).join(", ")}`;
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
