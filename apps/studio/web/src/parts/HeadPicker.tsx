// Layers down, heads across: which head is looked at.

import { useRef } from "preact/hooks";
import type { Key } from "../app/keys";
import "./head_picker.css";

export interface Head {
  layer: number;
  head: number;
}

export interface HeadPickerProps {
  layers: number;
  heads: number;
  chosen: Head;
  onPick: (head: Head) => void;
  /** A colour and a few words for a head, where something is known of it. */
  note?: (head: Head) => { colour: string; says: string } | null;
}

/** The head `by` heads or layers further, round the ends. */
export function headBeside({ layer, head }: Head, layers: number, heads: number, by: { layer?: number; head?: number }): Head {
  const round = (at: number, count: number) => ((at % count) + count) % count;
  return { layer: round(layer + (by.layer ?? 0), layers), head: round(head + (by.head ?? 0), heads) };
}

/** [ ] for the head, { } for the layer. */
export function headKeys(now: () => HeadPickerProps): Key[] {
  const to = (by: { layer?: number; head?: number }) => () => {
    const { layers, heads, chosen, onPick } = now();
    onPick(headBeside(chosen, layers, heads, by));
  };
  return [
    { keys: ["["], shown: "[", does: "the head before", run: to({ head: -1 }) },
    { keys: ["]"], shown: "]", does: "the next head", run: to({ head: 1 }) },
    { keys: ["{"], shown: "{", does: "the layer before", run: to({ layer: -1 }) },
    { keys: ["}"], shown: "}", does: "the next layer", run: to({ layer: 1 }) },
  ];
}

const arrows: Readonly<Record<string, { layer?: number; head?: number }>> = {
  ArrowLeft: { head: -1 },
  ArrowRight: { head: 1 },
  ArrowUp: { layer: -1 },
  ArrowDown: { layer: 1 },
};

export function HeadPicker(props: HeadPickerProps) {
  const { layers, heads, chosen, onPick, note } = props;
  const table = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = arrows[event.key];
    if (!by) return;
    event.preventDefault();
    const next = headBeside(chosen, layers, heads, by);
    onPick(next);
    table.current?.querySelectorAll<HTMLElement>("[role=radio]")[next.layer * heads + next.head]?.focus();
  };
  return (
    <div class="head-picker" role="radiogroup" aria-label="Layer and head" ref={table} onKeyDown={onKeyDown}>
      {Array.from({ length: layers }, (_, layer) => (
        <div key={layer} class="head-row">
          <span aria-hidden="true">{layer}</span>
          {Array.from({ length: heads }, (_, head) => {
            const isChosen = layer === chosen.layer && head === chosen.head;
            const known = note?.({ layer, head }) ?? null;
            return (
              <button
                key={head}
                type="button"
                role="radio"
                aria-checked={isChosen}
                aria-label={`Layer ${layer}, head ${head}${known ? `, ${known.says}` : ""}`}
                title={known?.says}
                tabIndex={isChosen ? 0 : -1}
                style={known ? { background: known.colour } : {}}
                onClick={() => onPick({ layer, head })}
              />
            );
          })}
        </div>
      ))}
    </div>
  );
}
