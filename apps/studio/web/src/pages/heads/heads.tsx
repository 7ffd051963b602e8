// Heads: who reads whom, in every head of a model at once, in one head, in one row, in one pair.

import type { Signal } from "@preact/signals";
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import { address } from "../../app/address";
import { useKeys } from "../../app/keys";
import type { Page, PageProps, Takings } from "../../app/page";
import { ground, narrow } from "../../app/theme";
import { useTakings } from "../../app/use_takings";
import type { AboutExample, AboutReply, HeadReply, HeadsReply, HeadsRequest, HeadsSite } from "../../engine/messages";
import { Cautions } from "../../parts/Cautions";
import { headMap, saidOf, summaryOf } from "../../parts/head_map";
import { Heatmap } from "../../parts/Heatmap";
import { headKeys } from "../../parts/HeadPicker";
import type { Place } from "../../parts/one_cell";
import { shadeOf } from "../../parts/shade";
import { Undoable } from "../../parts/Undoable";
import { AllHeads } from "./AllHeads";
import { HeadCard, PairCard, SaysCard } from "./Aside";
import { Lines } from "./Lines";
import { ModelBar } from "./ModelBar";
import { Pair } from "./Pair";
import { Picture } from "./Picture";
import { Query } from "./Query";
import { Toolbar } from "./Toolbar";
import { Tokens } from "./Tokens";
import { headsDrawing } from "./figures";
import { openDesk, type Desk } from "./desk";
import { csvOf } from "./row";
import { explainCommand, headName, thresholdOf, viewOf, viewsOf, type Cell } from "./state";
import "./heads.css";

export const heads: Page = { name: "heads", title: "Heads", View: HeadsPage };

function HeadsPage({ engine, takings }: PageProps) {
  const desk = useMemo(() => openDesk(engine), [engine]);
  const zoom = useSignal(1);
  useEffect(() => desk.close, [desk]);
  useHeadsKeys(desk, zoom);
  useHeadsTakings(desk, takings);
  const about = desk.about.reply.value;
  const reading = desk.reading.value;
  const all = desk.heads.reply.value;
  const site = desk.site.value;
  const head = desk.head.reply.value;
  const waiting = desk.heads.waiting.value;
  const isOld = desk.heads.error.value !== null; // what is shown answers an earlier request
  return (
    <div class="heads-page">
      <h1 class="said">Heads: who reads whom</h1>
      {about && reading && !engine.isLive && <Read reading={reading} />}
      {about && reading && engine.isLive && <ModelBar desk={desk} about={about} reading={reading} readsPairs={readsPairs(about, all)} readsChat />}
      <Problems desk={desk} />
      {waiting && <Progress desk={desk} />}
      <Cautions of={[all?.cautions]} />
      {isOld && all && <p class="note">Below is still what {all.title} read before.</p>}
      {all && site && head ? (
        <div class={`heads-desk ${waiting || isOld ? "waiting" : ""}`} aria-busy={waiting}>
          {viewOf(address.value.fields, site) !== "all" && (
            <section class="card grid-card" aria-label="All heads">
              <AllHeads desk={desk} reply={all} site={site} largestMap={narrow.value ? 40 : 72} />
            </section>
          )}
          <Large desk={desk} all={all} site={site} head={head} zoom={zoom} />
          <div class="heads-aside">
            <PairCard desk={desk} reply={head} />
            <HeadCard reply={head} example={exampleOfHead(desk)} />
            <SaysCard reply={all} site={site} cell={desk.locked.value} />
          </div>
        </div>
      ) : (
        !desk.heads.error.value && !desk.heads.gone.value && <p class="first-wait">Reading the text with every head …</p>
      )}
    </div>
  );
}

/** In a file: what was read when it was made. */
function Read({ reading }: { reading: HeadsRequest }) {
  return (
    <p class="read">
      <b>{reading.model}</b> reads {reading.text === undefined ? `example ${reading.example ?? 0} of its task` : `“${reading.text}”`}
    </p>
  );
}

/** Encoders of others read two texts as one; those of the box learnt their task from one. */
function readsPairs(about: AboutReply, all: HeadsReply | null): boolean {
  return all?.kind === "encoder" && !about.models.some((model) => model.name === all.title);
}

const inTheirPlace = ["model", "text", "second", "example", "chat"]; // fields that show their own errors

function Problems({ desk }: { desk: Desk }) {
  const all = [desk.about, desk.heads, desk.head];
  const gone = all.map((one) => one.gone.value).find((one) => one !== null);
  if (gone) return <p class="problem banner">{gone.message}</p>;
  const error = all.map((one) => one.error.value).find((one) => one !== null && !inTheirPlace.includes(one.field));
  return error && <Undoable message={error.message} />;
}

function Progress({ desk }: { desk: Desk }) {
  const made = desk.heads.progress.value;
  return (
    <p class="heads-progress" role="status">
      {made && made.total > 0 ? `Layer ${made.done + 1} of ${made.total}` : "Reading the text"}
      <progress max={made?.total || 1} value={made?.done ?? 0} />
      <button type="button" onClick={desk.stop}>
        Stop
      </button>
    </p>
  );
}

interface LargeProps {
  desk: Desk;
  all: HeadsReply;
  site: HeadsSite;
  head: HeadReply;
  zoom: Signal<number>;
}

/** The example, where the head that is shown is the one that it is about. */
function exampleOfHead({ example: { value: example }, at: { value: at } }: Desk): AboutExample | null {
  return example && at && headName(example) === headName(at) ? example : null;
}

function Large({ desk, all, site, head, zoom }: LargeProps) {
  const { fields } = address.value;
  const view = viewOf(fields, site);
  const least = thresholdOf(fields);
  const example = exampleOfHead(desk);
  return (
    <section class={`card large ${desk.head.waiting.value ? "waiting" : ""}`} aria-label="The head">
      <h2>
        Layer {head.shown.layer}, head {head.shown.head}
        {site.site !== "tokens" && <small>{site.site === "cross" ? ", cross-attention" : ", in the source"}</small>}
      </h2>
      {example?.look && <p class="look">{example.look}</p>}
      <Toolbar desk={desk} reply={head} />
      {head.hidden_special && <p class="note">{head.hidden_special}</p>}
      {view === "all" ? (
        <AllHeads desk={desk} reply={all} site={site} largestMap={140} />
      ) : (
        <>
          {!(view === "image" && site.asks_from_patches) && <Tokens desk={desk} reply={head} choosesKey={view === "pair"} isPicture={view === "image"} />}
          {view === "matrix" && <Matrix desk={desk} head={head} least={least} zoom={zoom} />}
          {view === "image" && all.image && <Picture desk={desk} all={all} site={site} reply={head} image={all.image} />}
          {view === "lines" && <Lines desk={desk} reply={head} least={least} />}
          {view === "query" && <Query desk={desk} reply={head} least={least} />}
          {view === "pair" && <Pair reply={desk.pair.reply.value} />}
        </>
      )}
    </section>
  );
}

function placeOf(cell: Cell | null): Place | null {
  return cell && { row: cell.query, column: cell.key };
}

function cellOf(place: Place | null): Cell | null {
  return place && { query: place.row, key: place.column };
}

function Matrix({ desk, head, least, zoom }: { desk: Desk; head: HeadReply; least: number; zoom: Signal<number> }) {
  const pointed = useMemo(() => translated(desk.hover), [desk]);
  const locked = useComputed(() => placeOf(desk.locked.value));
  const shade = shadeOf(address.value.fields);
  const data = useMemo(() => headMap(head, shade), [head, shade]);
  return (
    <>
      <Heatmap
        {...data}
        least={shade === "uniform" ? 0 : least}
        crossed
        summary={summaryOf(head)}
        tall={narrow.value ? 480 : 620}
        zoom={zoom.value}
        pointed={pointed}
        locked={locked}
        onLock={(place) => desk.lock(cellOf(place))}
        onOpen={(place) => desk.bench(place.row)}
        said={saidOf(head)}
      />
      <p class="note">
        Rows ask, columns are read. Σ is each row’s sum as it is: no row is adjusted to sum to 1. The bars below are what each
        token is read in all.
        {head.hidden !== null && " Hatched: the mask hides it."}
        {head.second_from !== null && " Dashed: where the second text begins."}
        {shade === "uniform" && " Numbers are the weight times the keys that its query sees: 1 is as if it read all alike."}
      </p>
    </>
  );
}

/** The same signal in the words of a matrix. */
function translated(hover: Signal<Cell | null>): Signal<Place | null> {
  return {
    get value() {
      return placeOf(hover.value);
    },
    set value(place: Place | null) {
      hover.value = cellOf(place);
    },
    peek: () => placeOf(hover.peek()),
  } as Signal<Place | null>;
}

const zooms = [1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32];

function useHeadsKeys(desk: Desk, zoom: Signal<number>): void {
  useLayoutEffect(() => {
    const magnify = (by: 1 | -1) => () => {
      const at = zooms.indexOf(zoom.value);
      zoom.value = zooms[Math.min(Math.max(at + by, 0), zooms.length - 1)] ?? 1;
    };
    const turn = () => {
      const site = desk.site.value;
      const known = viewsOf(site);
      desk.apply({ view: known[(known.indexOf(viewOf(address.value.fields, site)) + 1) % known.length]! });
    };
    return useKeys([
      ...headKeys(() => desk.picked()),
      { keys: ["v"], shown: "v", does: "the next view", run: turn },
      { keys: ["t"], shown: "t", does: "the row on the bench", run: () => desk.bench(desk.shown.value?.query ?? 0) },
      { keys: ["+", "="], shown: "+", does: "larger cells", run: magnify(1) },
      { keys: ["-"], shown: "-", does: "smaller cells", run: magnify(-1) },
      { keys: ["0"], shown: "0", does: "the whole matrix", run: () => (zoom.value = 1) },
      { keys: ["Escape"], shown: "Esc", does: "let go of the pair", run: () => desk.lock(null) },
    ]);
  }, [desk]);
}

const nothing = { width: 1, height: 1, title: "", marks: [] };

function useHeadsTakings(desk: Desk, takings: Signal<Takings | null>): void {
  const head = desk.head.reply.value;
  const read = desk.heads.answered.value;
  const view = viewOf(address.value.fields, desk.site.value);
  const taken = () => {
    if (!head || !read) return undefined;
    const command = explainCommand(read);
    return {
      name: view === "all" ? "heads" : "head",
      ...(command === null ? {} : { command }),
      drawing: () => headsDrawing(desk, ground.value) ?? nothing,
      table: { name: "weights", csv: () => csvOf(head.queries, head.keys, head.weights), array: () => head.weights },
    };
  };
  useTakings(takings, taken, [head, read, view]);
}
