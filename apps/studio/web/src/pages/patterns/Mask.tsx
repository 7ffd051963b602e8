// Who sees whom: a mask as a map of tiles.

import { useComputed, useSignal, type Signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { address, change } from "../../app/address";
import type { PageProps, Takings } from "../../app/page";
import { ground } from "../../app/theme";
import { useTakings } from "../../app/use_takings";
import { cellFrom, cellText, type Cell } from "../../drawing/grid";
import { asked } from "../../engine/asked";
import type { MaskWordShown } from "../../engine/messages";
import { csvOf } from "../../drawing/csv";
import { PaintedGrid } from "../../parts/PaintedGrid";
import { CountField, Slider } from "../../parts/Slider";
import { useWidth } from "../../parts/use_width";
import { Expression } from "./Expression";
import { MaskFacts, cellWords } from "./MaskFacts";
import { Problems, problemOf } from "./Said";
import { drawnMask, type DrawnMask } from "./mask_cells";
import { maskPicture } from "./mask_marks";
import {
  lengthAt,
  longest,
  maskCommand,
  maskRequest,
  maskText,
  shapeOf,
  sliderAt,
  sliderLeast,
  sliderMost,
} from "./mask_state";

const ownFields = ["tq", "tk", "tile", "batch", "heads", "head", "batch_entry"]; // fields that show their own errors

export function MaskPage({ engine, takings }: PageProps) {
  const given = useSignal<string | null>(null);
  useEffect(() => {
    const settle = (mask: string) => (given.value = mask);
    engine.ask("about", {}).then(
      (about) => settle(about.mask),
      () => settle(""),
    );
  }, [engine]);
  const request = useComputed(() => (given.value === null ? null : maskRequest(address.value.fields, given.value)));
  const map = useMemo(() => asked(engine, "mask", request), [engine]);
  useEffect(() => map.stop, [map]);
  const hovered = useSignal<Cell | null>(null);

  const { fields } = address.value;
  const answer = map.reply.value;
  const reply = useMemo(() => answer && drawnMask(answer), [answer]);
  const words = useWords(engine, map, given.value ?? "");
  useTakings(takings, () => reply ? maskTakings(reply, maskCommand(fields, given.value ?? "")) : undefined, [reply, fields]);
  const error = map.error.value;
  const ofMask = error && (!reply || !ownFields.includes(error.field)) ? error : null; // its field is not there yet
  return (
    <div class={`part ${map.waiting.value ? "waiting" : ""}`} aria-busy={map.waiting.value}>
      {map.gone.value && <Problems asked={map} inTheirPlace={[]} />}
      <fieldset class="if-live" disabled={!engine.isLive}>
        <Expression
          text={maskText(fields, given.value ?? "")}
          words={words}
          error={ofMask}
          onChange={(mask, how) => change({ mask: mask || " ", cell: null }, how)}
        />
      </fieldset>
      {reply ? (
        <Desk map={map} reply={reply} given={given.value ?? ""} hovered={hovered} isLive={engine.isLive} />
      ) : (
        <p class="first-wait">
          {error ? "Nothing is drawn yet: mend the mask, or take one that a model has." : "Drawing the map …"}
        </p>
      )}
    </div>
  );
}

/** The words of the language; asked for by themselves while no mask could be read. */
function useWords(engine: PageProps["engine"], map: DeskProps["map"], given: string): readonly MaskWordShown[] {
  const alone = useSignal<readonly MaskWordShown[]>([]);
  const unread = map.reply.value === null && map.error.value !== null;
  useEffect(() => {
    if (!unread) return;
    engine.ask("mask", { mask: "all", ...shapeOf(address.value.fields, given) }).then(
      (reply) => (alone.value = reply.words),
      () => undefined, // the shape itself is refused, and its field says so
    );
  }, [unread]);
  return map.reply.value?.words ?? alone.value;
}

interface DeskProps {
  map: ReturnType<typeof asked<"mask">>;
  reply: DrawnMask;
  given: string;
  hovered: Signal<Cell | null>;
  isLive: boolean;
}

function Desk({ map, reply, given, hovered, isLive }: DeskProps) {
  const place = useRef<HTMLDivElement>(null);
  const room = Math.min(useWidth(place, 640), 640);
  const now = ground.value;
  const picture = useMemo(() => maskPicture(reply, room, now), [reply, room, now]);
  const chosen = cellFrom(address.value.fields["cell"], picture.place.rows, picture.place.columns);
  const shown =
    hovered.value && hovered.value.row < picture.place.rows && hovered.value.column < picture.place.columns
      ? hovered.value
      : chosen;
  return (
    <div class="mask-desk">
      <section class="card" aria-label="The map">
        <fieldset class="if-live" disabled={!isLive}>
          <Sizes map={map} reply={reply} given={given} />
        </fieldset>
        <div class="picture" ref={place}>
          <PaintedGrid
            {...picture}
            chosen={chosen}
            say={(cell) => cellWords(reply, cell).join(", ")}
            onChoose={(cell) => change({ cell: cellText(cell) }, "quiet")}
            onHover={(cell) => (hovered.value = cell)}
          />
        </div>
      </section>
      <MaskFacts reply={reply} cell={shown} kept={chosen !== null} />
    </div>
  );
}

function Sizes({ map, reply, given }: { map: DeskProps["map"]; reply: DrawnMask; given: string }) {
  const { fields } = address.value;
  const { tq, tk } = shapeOf(fields, given);
  const setBoth = (at: number, how: "drag" | "done" | "quiet") => {
    const length = String(lengthAt(at));
    change({ tq: length, tk: length, cell: null }, how);
  };
  const field = (name: string, label: string, value: number | string, meaning: string, form?: RegExp) => (
    <CountField
      label={label}
      value={value}
      meaning={meaning}
      problem={problemOf(map, name)}
      {...(form ? { form } : {})}
      onChange={(text, how) => change({ [name]: text, cell: null }, how)}
    />
  );
  const tile = reply.tile_queries === reply.tile_keys ? reply.tile_queries : `${reply.tile_queries}x${reply.tile_keys}`;
  return (
    <div class="sizes">
      <Slider
        label="T"
        shown={tq === tk ? `${tq.toLocaleString("en")} tokens` : `${tq} queries, ${tk} keys`}
        at={sliderAt(Math.max(tq, 1))}
        least={sliderLeast}
        most={sliderMost}
        onMove={setBoth}
      />
      {field("tq", "queries", tq, `Tq, 1 to ${longest.toLocaleString("en")}`)}
      {field("tk", "keys", tk, `Tk, 1 to ${longest.toLocaleString("en")}`)}
      {field(
        "tile",
        "tile",
        fields["tile"] ?? tile,
        "Queries and keys that are computed together: N, or QxK",
        /^\d{1,6}(x\d{1,6})?$/,
      )}
      <details class="more">
        <summary>batch, heads</summary>
        <div class="sizes">
          {field("batch", "batch", fields["batch"] ?? 1, "Batch entries")}
          {field("batch_entry", "shown", fields["batch_entry"] ?? 0, "Whose map, where batch entries differ")}
          {field("heads", "heads", fields["heads"] ?? 1, "Query heads")}
          {field("head", "shown", fields["head"] ?? 0, "Whose map, where heads differ")}
        </div>
      </details>
    </div>
  );
}

function maskTakings(reply: DrawnMask, command: string): Takings {
  return {
    name: "mask",
    command,
    drawing: () => maskPicture(reply, 720, ground.value).drawing,
    table: { name: "share", csv: () => csvOf(reply.share), array: () => reply.share },
  };
}
