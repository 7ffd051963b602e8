// Loss and accuracy over the steps; pressing there goes to the model of that step.

import { useMemo } from "preact/hooks";
import { change } from "../../app/address";
import { shown } from "../../drawing/numbers";
import type { LearnReply } from "../../engine/messages";
import { LineChart, type LineChartProps } from "../../parts/LineChart";
import { accuracyChart, lossChart } from "./curves";
import type { Desk } from "./desk";

const tall = 190;

export function Curves({ desk, reply }: { desk: Desk; reply: LearnReply }) {
  const loss = useMemo(() => lossChart(reply), [reply]);
  const accuracy = useMemo(() => accuracyChart(reply), [reply]);
  const last = reply.examined.at(-1);
  const losses = reply.loss.values;
  const said = (at: number) => shown(Number(losses.at(at)), 3);
  return (
    <div class="curves">
      <Plot
        desk={desk}
        reply={reply}
        title="Loss"
        says={losses.length === 0 ? "no step is done yet" : `from ${said(0)} to ${said(-1)} nats`}
        chart={loss}
        writeY={(value) => shown(value, 3)}
      />
      <Plot
        desk={desk}
        reply={reply}
        title="Right answers"
        says={last ? `${(100 * last.accuracy).toFixed(2)} % after step ${last.step}` : "not examined yet"}
        chart={accuracy}
        writeY={(value) => (Number.isNaN(value) ? "NaN" : `${(100 * value).toFixed(2)} %`)}
      />
    </div>
  );
}

interface PlotProps extends Pick<LineChartProps, "chart" | "writeY"> {
  desk: Desk;
  reply: LearnReply;
  title: string;
  says: string;
}

function Plot({ desk, reply, title, says, chart, writeY }: PlotProps) {
  const stops = reply.kept.map((model) => model.step);
  return (
    <section class="card plot" aria-label={title}>
      <h2>
        {title} <small>{says}</small>
      </h2>
      <LineChart
        chart={chart}
        height={tall}
        stops={stops}
        at={Math.max(stops.indexOf(desk.model.value?.step ?? -1), 0)}
        onAt={(at, settled) => change({ step: String(stops[at]) }, settled ? "done" : "drag")}
        pressed
        writeX={(step) => `step ${step}`}
        writeY={writeY}
        below="nothing"
      />
    </section>
  );
}
