// Everything the Step page shows follows from the address; this holds the questions that stand between.

import { computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { address, change, withFields, type Change } from "../../app/address";
import type { Engine } from "../../engine/engine";
import { asked, type Asked } from "../../engine/asked";
import type { BenchReply, BenchRequest, ChangeRequest, NumberRequest } from "../../engine/messages";
import { lastReply } from "../../app/last_reply";
import { parsedName, pinned, rings, selected } from "../../parts/links";
import { motionTo, type Motion } from "./motion";
import { benchRequest, changeRequest, dOutChanges, editChanges, isBackward, isPinnable, numberOf } from "./state";
import { innerStop, nextStop, outerStop, stopAt, stopOf, stopsOf, type Stop } from "./stops";
import { matrixOf } from "./matrices";

export interface Bench {
  engine: Engine;
  asked: Asked<"bench">;
  number: Asked<"number">;
  /** Of a model's head: what the model says, with the numbers that are changed here. */
  change: Asked<"change">;
  /** The reply before the last edit, for "was 0.401". */
  before: Signal<BenchReply | null>;
  backward: ReadonlySignal<boolean>;
  stops: ReadonlySignal<Stop[]>;
  stop: ReadonlySignal<Stop>;
  motion: Motion;
  playing: Signal<boolean>;
  edit: (matrix: string, row: number, column: number, value: number, settled: boolean) => void;
  editRow: (matrix: string, row: number, values: readonly number[], settled: boolean) => void;
  /** Whether a change will be answered; of what will not, nothing is offered. */
  can: (changes: Record<string, string | null>) => boolean;
  /** Whether numbers can be changed at all. */
  isLive: boolean;
  apply: (changes: Record<string, string | null>, how?: Change) => void;
  go: (stop: Stop) => void;
  move: (direction: 1 | -1) => void;
  /** One step on, for Play; false at the end. */
  advance: () => boolean;
  enter: () => void;
  leave: () => void;
  pin: (name: string | null) => void;
  close: () => void;
}

export const ready = "ready";

/** Fields of the bench that show their own errors. */
export const inTheirPlace = ["mask", "bias", "scale", "softcap", "context", "wrong"];

export function openBench(engine: Engine): Bench {
  // By its text, so that a step along the rail is no new request.
  const text = computed(() => JSON.stringify(benchRequest(address.value.fields)));
  const request = computed(() => JSON.parse(text.value) as BenchRequest);
  const bench = asked(engine, "bench", request);
  const numberRequest = computed<NumberRequest | null>(() =>
    selected.value ? numberOf(request.value, selected.value) : null,
  );
  const number = asked(engine, "number", numberRequest);
  const changeText = computed(() => JSON.stringify(changeRequest(address.value.fields)));
  const changed = asked(
    engine,
    "change",
    computed(() => {
      const wanted = JSON.parse(changeText.value) as ChangeRequest | null;
      return wanted && engine.answers("change", wanted) ? wanted : null; // a frozen page has no model
    }),
  );
  const stopMending = effect(() => {
    const error = bench.error.value;
    if (error && !bench.reply.value && inTheirPlace.includes(error.field)) void layWithout(error.field);
  });
  // An address whose first bench is refused: the same without what is wrong, so that the field to mend it in is there.
  async function layWithout(field: string): Promise<void> {
    const { [field as keyof BenchRequest]: _wrong, ...rest } = request.peek();
    const reply = await engine.ask("bench", rest).catch(() => engine.ask("bench", {})).catch(() => null);
    bench.reply.value ??= reply;
  }
  const before = signal<BenchReply | null>(null);
  const playing = signal(false);

  const backward = computed(() => isBackward(address.value.fields));
  const stops = computed(() => {
    const steps = backward.value ? bench.reply.value?.back : bench.reply.value?.steps;
    return stopsOf(steps ?? [], ready);
  });
  const settled = computed(() => stopOf(stops.value, address.value.fields["step"]));
  const motion = motionTo(
    computed(() => ({ at: settled.value.at, slow: (settled.value.step?.inner.length ?? 0) > 0 })),
  );
  const stop = computed(() => (motion.held.value ? stopAt(stops.value, motion.position.value) : settled.value));

  const stopPin = effect(() => {
    const pin = address.value.fields["pin"];
    pinned.value = isPinnable(pin) ? pin : null;
  });
  const stopRings = effect(() => {
    const of = selected.value;
    const reply = number.reply.value;
    const known = reply && reply.name === of;
    rings.value = { of, sources: known ? reply.sources : [], uses: known ? reply.uses : [] };
  });
  const stopTimes = effect(() => {
    if (bench.reply.value) lastReply.value = engine.lastTook;
  });

  let inEdit = false;
  const editing = (changes: Record<string, string | null>, settled: boolean) => {
    if (!inEdit) before.value = bench.reply.peek();
    inEdit = !settled;
    change(changes, settled ? "done" : "drag");
  };
  const changesOf = (matrix: string, row: number, column: number, value: number) => {
    const d_out = matrix === "d_out" && bench.reply.value ? matrixOf(bench.reply.value, "d_out") : null;
    if (d_out && address.value.fields["dY"] === undefined) return dOutChanges(d_out.values, row, column, value);
    return editChanges(address.value.fields, matrix, row, column, value);
  };
  const go = (to: Stop) => change({ step: to.key === "0" ? null : to.key }, "quiet");

  return {
    engine,
    asked: bench,
    number,
    change: changed,
    before,
    backward,
    stops,
    stop,
    motion,
    playing,
    edit: (matrix, row, column, value, settled) => editing(changesOf(matrix, row, column, value), settled),
    editRow: (matrix, row, values, settled) => {
      let fields = address.value.fields;
      let all: Record<string, string | null> = {};
      values.forEach((value, column) => {
        const changes = editChanges(fields, matrix, row, column, value);
        all = { ...all, ...changes };
        fields = {
          ...fields,
          ...Object.fromEntries(
            Object.entries(changes).filter((entry): entry is [string, string] => entry[1] !== null),
          ),
        };
      });
      editing(all, settled);
    },
    can: (changes) => engine.answers("bench", benchRequest(withFields(address.value.fields, changes))),
    isLive: engine.answers("bench", { q: "0", k: "0", v: "0" }),
    apply: (changes, how = "done") => {
      before.value = null;
      change(changes, how);
    },
    go: (to) => {
      playing.value = false;
      go(to);
    },
    move: (direction) => {
      playing.value = false;
      go(nextStop(stops.value, stop.value, direction));
    },
    advance: () => {
      const next = nextStop(stops.value, stop.value, 1);
      if (next === stop.value) return false;
      go(next);
      return true;
    },
    enter: () => {
      playing.value = false;
      const inner = innerStop(stops.value, stop.value);
      if (inner) go(inner);
    },
    leave: () => go(outerStop(stops.value, stop.value)),
    pin: (name) => change({ pin: name !== null && parsedName(name) ? name : null }, "quiet"),
    close: () => {
      stopMending();
      stopPin();
      stopRings();
      stopTimes();
      motion.stop();
      bench.stop();
      number.stop();
      changed.stop();
    },
  };
}
