// Ways to tell attention where tokens stand.

import { useComputed, useSignal, type Signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { address, change } from "../../app/address";
import type { PageProps, Takings } from "../../app/page";
import { ground } from "../../app/theme";
import { csvOf } from "../../drawing/csv";
import { cellFrom, cellText, type Cell } from "../../drawing/grid";
import { shown } from "../../drawing/numbers";
import { asked } from "../../engine/asked";
import type { PositionsReply } from "../../engine/messages";
import { Legend } from "../../parts/Legend";
import { LineChart } from "../../parts/LineChart";
import { PaintedGrid } from "../../parts/PaintedGrid";
import { useWidth } from "../../parts/use_width";
import { KindPicture } from "./KindPicture";
import { PositionSliders } from "./PositionSliders";
import { Problems, Said } from "./Said";
import { distanceChart, findings, pairWords } from "./positions_words";
import { kinds, positionsRequest, settingsOf, type Settings } from "./positions_state";
import { tablePicture, tableScale } from "./table_marks";

export function PositionsPage({ engine, takings }: PageProps) {
  const request = useComputed(() => positionsRequest(settingsOf(address.value.fields)));
  const table = useMemo(() => asked(engine, "positions", request), [engine]);
  useEffect(() => table.stop, [table]);
  const reply = table.reply.value;
  const wanted = settingsOf(address.value.fields);
  const answered = table.answered.value;
  // The reply of another kind is not drawn as this one.
  const fits = reply !== null && answered?.kind === wanted.kind;
  const settings = fits ? { ...wanted, ...bounded(wanted, answered.tokens ?? wanted.tokens) } : wanted;
  return (
    <div class={`part ${table.waiting.value ? "waiting" : ""}`} aria-busy={table.waiting.value}>
      <div class="segmented kinds" role="group" aria-label="Ways to tell positions">
        {kinds.map(({ kind, name }) => (
          <button
            key={kind}
            type="button"
            aria-pressed={kind === wanted.kind}
            onClick={() => change({ kind: kind === "sinusoidal" ? null : kind, cell: null })}
          >
            {name}
          </button>
        ))}
      </div>
      <Problems asked={table} inTheirPlace={[]} />
      {fits ? (
        <Desk reply={reply} settings={settings} takings={takings} />
      ) : (
        !table.error.value && <p class="first-wait">Setting the positions …</p>
      )}
    </div>
  );
}

// While a reply is on its way the sliders are ahead of the table.
function bounded(settings: Settings, tokens: number): Partial<Settings> {
  const at = Math.min(settings.at, tokens - 1);
  return { tokens, at, before: Math.min(settings.before, at) };
}

interface DeskProps {
  reply: PositionsReply;
  settings: Settings;
  takings: Signal<Takings | null>;
}

function Desk({ reply, settings, takings }: DeskProps) {
  const place = useRef<HTMLDivElement>(null);
  const room = Math.min(useWidth(place, 520), 600);
  const now = ground.value;
  const { kind, at } = settings;
  const hovered = useSignal<Cell | null>(null);
  const scale = useMemo(() => tableScale(kind, reply), [reply, kind]);
  const framed = kind === "sinusoidal" ? at : null;
  const picture = useMemo(() => tablePicture(reply, scale, null, room, now), [reply, scale, room, now]);
  const chosen = cellFrom(address.value.fields["cell"], picture.place.rows, picture.place.columns);
  const inside =
    hovered.value && hovered.value.row < picture.place.rows && hovered.value.column < picture.place.columns;
  const cell = inside ? hovered.value : chosen;
  const distance = useSignal<number | null>(null);
  const chart = useMemo(() => distanceChart(kind, reply), [kind, reply]);
  useEffect(() => {
    takings.value = {
      name: `positions-${kind}`,
      drawing: () => tablePicture(reply, scale, framed, 640, ground.value).drawing,
      table: { name: "table", csv: () => csvOf(reply.table), array: () => reply.table },
    };
  }, [reply, scale, framed]);
  useEffect(() => () => void (takings.value = null), []);

  const said = (
    <section class="card">
      <Said {...findings(settings, reply, now)} />
    </section>
  );
  const tall = kind !== "t5"; // its picture leaves room on the left side
  return (
    <div class="positions-desk">
      <div class="positions-side">
        <section class="card kind-card" aria-label={reply.title}>
          <h2>
            {reply.title} <small>{kinds.find((one) => one.kind === kind)?.in}</small>
          </h2>
          <PositionSliders settings={settings} />
          <KindPicture reply={reply} settings={settings} />
        </section>
        <section class="card curve-card" aria-label="Over the distance">
          <LineChart
            chart={chart}
            height={230}
            at={distance.value ?? Math.min(settings.before, reply.by_distance.values.length - 1)}
            onAt={(to) => (distance.value = to)}
            writeX={(value) => `${value} tokens apart`}
            writeY={(value) => shown(value, kind === "t5" ? 0 : 3)}
            below="line"
          />
        </section>
        {!tall && said}
      </div>
      <div class="positions-side">
        <section class="card table-card" aria-label="All positions">
          <div class="picture" ref={place}>
            <PaintedGrid
              {...picture}
              chosen={chosen}
              framed={framed}
              say={(one) => pairWords(kind, reply, one)}
              onChoose={(one) =>
                change(
                  { cell: cellText(one), ...(one && kind === "sinusoidal" ? { at: String(one.row) } : {}) },
                  "quiet",
                )
              }
              onHover={(one) => (hovered.value = one)}
            />
          </div>
          <Legend scale={scale} decimals={0} what={reply.title} />
          <p class="cell-line">
            {cell ? pairWords(kind, reply, cell) : <span class="hint">Point at a cell to read it.</span>}
          </p>
        </section>
        {tall && said}
      </div>
    </div>
  );
}
