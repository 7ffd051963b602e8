// Loss and accuracy over the steps; pointing at them goes to the model of that step.

import { useRef } from "preact/hooks";
import { change } from "../../app/address";
import type { PlacedChart } from "../../drawing/line_chart";
import { svgElements } from "../../drawing/svg";
import type { LearnReply } from "../../engine/messages";
import { accuracyChart, lossChart } from "./curves";
import { useWidth } from "../../parts/use_width";
import type { Desk } from "./desk";
import { modelAt } from "./state";

const narrowest = 280;

export function Curves({ desk, reply }: { desk: Desk; reply: LearnReply }) {
  const step = desk.model.value?.step ?? null;
  const last = reply.examined.at(-1);
  const firstLoss = reply.loss.values.length > 0 ? Number(reply.loss.values[0]) : null;
  const lastLoss = reply.loss.values.length > 0 ? Number(reply.loss.values.at(-1)) : null;
  const to = (wanted: number, settled: boolean) => {
    const model = modelAt(reply.kept, Math.round(wanted));
    if (model) change({ step: String(model.step) }, settled ? "done" : "drag");
  };
  return (
    <div class="curves">
      <Plot title="Loss" says={firstLoss === null || lastLoss === null ? "no step is done yet" : `from ${firstLoss.toFixed(3)} to ${lastLoss.toFixed(3)} nats`} draw={(width) => lossChart(reply, width, step)} onPlace={to} />
      <Plot title="Right answers" says={last ? `${(100 * last.accuracy).toFixed(2)} % after step ${last.step}` : "not examined yet"} draw={(width) => accuracyChart(reply, width, step)} onPlace={to} />
    </div>
  );
}

interface PlotProps {
  title: string;
  says: string;
  draw: (width: number) => PlacedChart;
  onPlace: (x: number, settled: boolean) => void;
}

function Plot({ title, says, draw, onPlace }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const chart = draw(Math.max(useWidth(box), narrowest));
  const at = (event: PointerEvent, settled: boolean) => {
    const frame = (event.currentTarget as SVGElement).getBoundingClientRect();
    onPlace(chart.valueAt(((event.clientX - frame.left) * chart.width) / frame.width), settled);
  };
  return (
    <section class="card plot" aria-label={title}>
      <h2>
        {title} <small>{says}</small>
      </h2>
      <div ref={box}>
        <svg
          role="img"
          aria-label={`${chart.title}: ${says}`}
          viewBox={`0 0 ${chart.width} ${chart.height}`}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            at(event, false);
          }}
          onPointerMove={(event) => event.buttons > 0 && at(event, false)}
          onPointerUp={(event) => at(event, true)}
        >
          {svgElements(chart.marks)}
        </svg>
      </div>
    </section>
  );
}
