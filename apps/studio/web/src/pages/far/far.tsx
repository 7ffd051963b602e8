// Far: one head over a text of up to a million tokens, from all of its matrix to a single weight.

import type { Signal } from "@preact/signals";
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import { address } from "../../app/address";
import { useKeys } from "../../app/keys";
import type { Page, PageProps, Takings } from "../../app/page";
import { ground } from "../../app/theme";
import { useTakings } from "../../app/use_takings";
import { grouped } from "../../drawing/amounts";
import { Cautions } from "../../parts/Cautions";
import { headKeys } from "../../parts/HeadPicker";
import { FindCard, toKey } from "./FindCard";
import { Overview } from "./Overview";
import { FarPicture, pressAt, sceneOf } from "./Picture";
import { Readout } from "./Readout";
import { RowCard } from "./RowCard";
import { HeadsCard, Source } from "./Source";
import { showAll, Toolbar, zoomBy, type Fields } from "./Toolbar";
import { SampledChip, WalkLine } from "./WalkLine";
import { openDesk, type Desk, type Opened } from "./desk";
import { paintScene, wordsOf } from "./paint";
import { headName } from "../heads/state";
import { fileName, probeCommand } from "./state";
import { arrayOfSeen, csvOfSeen, type Seen } from "./table";
import { centreOf, panned } from "./view";
import "./aside.css";
import "./far.css";

export const far: Page = { name: "far", title: "Far", View: FarPage };

function FarPage({ engine, takings }: PageProps) {
  const desk = useMemo(() => openDesk(engine), [engine]);
  const fields: Fields = { find: useSignal<HTMLInputElement | null>(null), go: useSignal<HTMLInputElement | null>(null) };
  useEffect(() => desk.close, [desk]);
  useFarKeys(desk, fields);
  useFarTakings(desk, takings);
  const about = desk.about.reply.value;
  const here = desk.opened.value;
  const waiting = desk.open.waiting.value;
  return (
    <div class="far-page">
      <h1 class="said">Far: one head over a long text</h1>
      {about && <Source desk={desk} about={about} />}
      <Problems desk={desk} />
      {waiting && <Opening desk={desk} />}
      <Cautions of={[here?.reply.cautions]} />
      {here ? (
        <div class={`far-desk ${waiting ? "waiting" : ""}`} aria-busy={waiting}>
          <section class="card far-card" aria-label="The matrix">
            <Heading desk={desk} here={here} />
            <Toolbar desk={desk} here={here} fields={fields} />
            <div class="far-stage">
              <FarPicture desk={desk} />
              <SampledChip desk={desk} here={here} />
            </div>
            <TileProblem desk={desk} here={here} />
            <Readout desk={desk} here={here} />
            <WalkLine here={here} />
          </section>
          <div class="far-aside">
            <HeadsCard desk={desk} />
            <FindCard desk={desk} />
            <RowCard desk={desk} />
            <Overview desk={desk} here={here} />
          </div>
        </div>
      ) : (
        !waiting && !desk.open.error.value && !desk.open.gone.value && desk.request.value && <p class="first-wait">Opening …</p>
      )}
    </div>
  );
}

function Heading({ desk, here }: { desk: Desk; here: Opened }) {
  const { reply, request } = here;
  const [needle] = reply.needles;
  return (
    <div>
      <h2>
        {request.tokens === undefined ? reply.title : "Numbers that are made up"}:{" "}
        {grouped(reply.queries)} × {grouped(reply.keys)} weights <small>never stored</small>
      </h2>
      <p class="look">
        A row is a query, a column a key that it may read; {ground.value === "dark" ? "brighter" : "darker"} is more.
        {needle && (
          <>
            {" "}
            A needle is hidden in it: query {grouped(needle.query)} reads “{needle.word}”.{" "}
            <button type="button" class="plain small" onClick={() => toKey(desk, needle.key, needle.query)}>
              Take me there
            </button>
          </>
        )}
      </p>
    </div>
  );
}

function Problems({ desk }: { desk: Desk }) {
  const all = [desk.about, desk.open, desk.row, desk.find];
  const gone = all.map((one) => one.gone.value).find((one) => one !== null);
  return gone ? <p class="problem banner">{gone.message}</p> : null;
}

function TileProblem({ desk, here }: { desk: Desk; here: Opened }) {
  void desk.arrived.value;
  const { error } = here.queue;
  const said = desk.cellProblem.value ?? (error === null ? null : error instanceof Error ? error.message : String(error));
  if (said === null) return null;
  return (
    <p class="problem banner" role="alert">
      {said}{" "}
      <button type="button" class="plain small" onClick={() => here.queue.retry()}>
        Try again
      </button>
    </p>
  );
}

function Opening({ desk }: { desk: Desk }) {
  const made = desk.open.progress.value;
  const share = made && made.total > 0 ? made.done / made.total : 0;
  return (
    <p class="far-opening" role="status">
      {made?.what === "the text" ? "Reading the text" : made ? "A first look at some of the queries" : "Opening"}
      <progress max={1} value={share} aria-label="A first look" />
      <button type="button" class="small" onClick={() => stopOpening(desk)}>
        Stop
      </button>
    </p>
  );
}

// Back to what is shown; with nothing shown yet, to the smallest text.
function stopOpening(desk: Desk): void {
  desk.open.cancel();
  if (desk.opened.peek()) history.back();
  else desk.apply({ model: "none", tokens: "1024", text: null, file: null });
}

function useFarKeys(desk: Desk, fields: Fields): void {
  useLayoutEffect(() => {
    const withView = (does: (here: Opened) => void) => () => {
      const here = desk.opened.peek();
      if (here && desk.view.peek() && desk.size.peek()) does(here);
    };
    const pan = (dx: number, dy: number) =>
      withView(({ matrix }) => {
        const size = desk.size.peek()!;
        const cell = desk.view.peek()!.scale;
        // From near a whole number of cells, so that they stay where they are.
        const step = (room: number) => (cell >= 8 ? Math.max(1, Math.round(room / 8 / cell)) * cell : room / 8);
        desk.look(panned(desk.view.peek()!, dx * step(size.width), dy * step(size.height), matrix, size));
      });
    const middle = withView(() => pressAt(desk, centreOf(desk.view.peek()!, desk.size.peek()!)));
    const toFound = (by: 1 | -1) => () => {
      const places = desk.find.reply.peek()?.places ?? [];
      const now = desk.key.peek() ?? -1;
      const next = by > 0 ? places.find(({ key }) => key > now) : [...places].reverse().find(({ key }) => key < now);
      const one = next ?? (by > 0 ? places[0] : places.at(-1));
      if (one) toKey(desk, one.key);
    };
    const picked = () => {
      const { reply, request } = desk.opened.peek() ?? {};
      return {
        layers: reply?.layers ?? 1,
        heads: reply?.heads ?? 1,
        chosen: { layer: request?.layer ?? 0, head: request?.head ?? 0 },
        onPick: (next: { layer: number; head: number }) => reply && reply.site !== "" && desk.apply({ head: headName({ site: reply.site, ...next }) }),
      };
    };
    const arrow = (key: string, shown: string, dx: number, dy: number) => ({ keys: [key], shown, does: "move", run: pan(dx, dy), yields: true });
    return useKeys([
      ...headKeys(picked),
      arrow("ArrowLeft", "←", 1, 0),
      arrow("ArrowRight", "→", -1, 0),
      arrow("ArrowUp", "↑", 0, 1),
      arrow("ArrowDown", "↓", 0, -1),
      { keys: ["+", "="], shown: "+", does: "nearer", run: () => zoomBy(desk, 2) },
      { keys: ["-"], shown: "-", does: "farther away", run: () => zoomBy(desk, 0.5) },
      { keys: ["0"], shown: "0", does: "all of it", run: () => showAll(desk) },
      { keys: ["/"], shown: "/", does: "find a word among the keys", run: () => fields.find.peek()?.select() },
      { keys: ["g"], shown: "g", does: "go to a query and a key", run: () => fields.go.peek()?.select() },
      { keys: [">"], shown: ">", does: "the next place found", run: toFound(1) },
      { keys: ["<"], shown: "<", does: "the place before", run: toFound(-1) },
      { keys: ["m"], shown: "m", does: "largest or mean weight", run: () => desk.apply({ cell: desk.shown.peek() === "mean" ? null : "mean" }) },
      { keys: ["t"], shown: "t", does: "the row on the bench, of a short text", run: () => desk.bench?.() },
      { keys: ["c"], shown: "c", does: "take the pair in the middle", run: middle },
      { keys: ["Escape"], shown: "Esc", does: "let go of the row", run: () => desk.apply({ q: "none", k: null }) },
    ]);
  }, [desk]);
}

function useFarTakings(desk: Desk, takings: Signal<Takings | null>): void {
  const here = desk.opened.value;
  const about = desk.about.reply.value;
  const query = desk.query.value;
  const mark = address.value.fields["file"];
  const file = mark === undefined ? null : fileName(mark);
  const taken = () => {
    if (!here || !about) return undefined;
    const command = probeCommand(here.request, about, file, query);
    return {
      name: "far",
      ...(command === undefined ? {} : { command }),
      png: () => pngOf(desk, here),
      table: { name: "weights", csv: () => csvOfSeen(seenOf(desk, here)), array: () => arrayOfSeen(seenOf(desk, here)) },
    };
  };
  useTakings(takings, taken, [here, about, query, file]);
}

function seenOf(desk: Desk, here: Opened): Seen {
  const scene = sceneOf(desk, here);
  if (!scene) throw new Error("there is no picture yet");
  return { ...scene, words: { query: wordsOf(scene, "queries"), key: wordsOf(scene, "keys") } };
}

async function pngOf(desk: Desk, here: Opened): Promise<Blob> {
  const scene = sceneOf(desk, here);
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  if (!scene || !context) throw new Error("there is no picture yet");
  const ratio = 2;
  canvas.width = (scene.gutter.left + scene.size.width) * ratio;
  canvas.height = (scene.gutter.top + scene.size.height) * ratio;
  context.scale(ratio, ratio);
  paintScene(context, scene);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the canvas is too large for a PNG"))), "image/png");
  });
}
