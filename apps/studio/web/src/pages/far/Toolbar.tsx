// What a cell shows, how near it is looked at, and the two ways to a place: a word and a number.

import { useEffect, useRef } from "preact/hooks";
import { useSignal, type Signal } from "@preact/signals";
import { address } from "../../app/address";
import { ground } from "../../app/theme";
import { grouped } from "../../drawing/amounts";
import { colourOf } from "../../drawing/colour";
import { centreOf, wholeView, zoomed } from "./view";
import { typedPlace, type Shown } from "./state";
import type { Desk, Opened } from "./desk";

export const kinds: readonly [Shown, string][] = [
  ["largest", "Largest"],
  ["mean", "Mean"],
];

export function zoomBy(desk: Desk, by: number): void {
  const [here, view, size] = [desk.opened.peek(), desk.aim.peek(), desk.size.peek()];
  if (here && view && size) desk.fly(zoomed(view, by, size.width / 2, size.height / 2, here.matrix, size));
}

export function showAll(desk: Desk): void {
  const [here, size] = [desk.opened.peek(), desk.size.peek()];
  if (here && size) desk.fly(wholeView(here.matrix, size));
}

export interface Fields {
  find: Signal<HTMLInputElement | null>;
  go: Signal<HTMLInputElement | null>;
}

export function Toolbar({ desk, here, fields }: { desk: Desk; here: Opened; fields: Fields }) {
  const kind = desk.shown.value;
  return (
    <div class="far-toolbar">
      <div class="segmented" role="group" aria-label="What a cell shows">
        {kinds.map(([one, name]) => (
          <button key={one} type="button" aria-pressed={one === kind} onClick={() => desk.apply({ cell: one === "largest" ? null : one })}>
            {name}
          </button>
        ))}
      </div>
      <div class="segmented zooms" role="group" aria-label="Zoom">
        <button type="button" aria-label="Farther away" onClick={() => zoomBy(desk, 0.5)}>
          −
        </button>
        <button type="button" onClick={() => showAll(desk)}>
          All
        </button>
        <button type="button" aria-label="Nearer" onClick={() => zoomBy(desk, 2)}>
          +
        </button>
      </div>
      <FindField desk={desk} field={fields.find} />
      <GoField desk={desk} here={here} field={fields.go} />
    </div>
  );
}

function useField(field: Signal<HTMLInputElement | null>) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.value = input.current;
    return () => void (field.value = null);
  }, []);
  return input;
}

function leaves(event: KeyboardEvent & { currentTarget: HTMLInputElement }, value: string) {
  if (event.key !== "Escape") return;
  event.currentTarget.value = value;
  event.currentTarget.blur();
}

function FindField({ desk, field }: { desk: Desk; field: Signal<HTMLInputElement | null> }) {
  const input = useField(field);
  const word = address.value.fields["find"] ?? "";
  return (
    <form
      class="far-find"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        desk.apply({ find: input.current?.value.trim() || null });
        input.current?.blur();
      }}
    >
      <label>
        <span>Find</span>
        <input ref={input} value={word} placeholder="a word" spellcheck={false} autocomplete="off" onKeyDown={(event) => leaves(event, word)} />
      </label>
    </form>
  );
}

function GoField({ desk, here, field }: { desk: Desk; here: Opened; field: Signal<HTMLInputElement | null> }) {
  const input = useField(field);
  const problem = useSignal<string | null>(null);
  const go = (text: string) => {
    const place = typedPlace(text);
    const { queries, keys } = here.matrix;
    if (!place) problem.value = `expected a query, or a query and a key, as 100000 or 100000 99120, got ${text.trim() || "nothing"}`;
    else if (place.query >= queries) problem.value = `expected a query from 0 to ${grouped(queries - 1)}, got ${grouped(place.query)}`;
    else if (place.key !== null && place.key >= keys) problem.value = `expected a key from 0 to ${grouped(keys - 1)}, got ${grouped(place.key)}`;
    else {
      problem.value = null;
      desk.choose(place.query, place.key);
      const [view, size] = [desk.aim.peek(), desk.size.peek()];
      if (place.key !== null) desk.goTo(place.query, place.key);
      else if (view && size) desk.goTo(place.query, Math.floor(centreOf(view, size).key), Math.round(size.width / view.scale));
      input.current?.blur();
    }
  };
  return (
    <form
      class="far-go"
      onSubmit={(event) => {
        event.preventDefault();
        go(input.current?.value ?? "");
      }}
    >
      <label>
        <span>Go to</span>
        <input
          ref={input}
          placeholder="query key"
          inputMode="numeric"
          autocomplete="off"
          aria-invalid={problem.value !== null}
          onInput={() => (problem.value = null)}
          onKeyDown={(event) => leaves(event, "")}
        />
      </label>
      {problem.value && <em class="problem">{problem.value}</em>}
    </form>
  );
}

const steps = 24;

export function LogLegend() {
  return (
    <div class="far-legend" role="img" aria-label="Colours by the logarithm of the weight, from 10 to the minus 8 to 1; hatched is hidden">
      <span>10⁻⁸</span>
      <svg viewBox={`0 0 ${steps} 1`} preserveAspectRatio="none" aria-hidden="true">
        {Array.from({ length: steps }, (_, n) => (
          <rect key={n} x={n} y={0} width={1.05} height={1} fill={colourOf("sequential", (n + 0.5) / steps, ground.value)} />
        ))}
      </svg>
      <span>1</span>
      <i class="hatched" aria-hidden="true" />
      <span>hidden</span>
    </div>
  );
}
