// What a reader can keep: the link, the command, the picture, the numbers, the page itself.

import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { pngFile } from "../drawing/canvas";
import { npyOf } from "../drawing/npy";
import { palettes } from "../drawing/palette";
import { svgFile } from "../drawing/svg";
import type { Engine } from "../engine/engine";
import type { Tensor } from "../engine/tensor";
import { address, fragmentOf } from "./address";
import type { TakenTable, Takings } from "./page";
import { thisPage } from "./page_file";
import { startsWith } from "./starts";
import { ground } from "./theme";

interface Entry {
  label: string;
  detail: string;
  run: () => Promise<string>; // what it says when it is done
}

function entriesOf(engine: Engine, takings: Takings | null): Entry[] {
  const entries: Entry[] = [{ label: "Link", detail: "opens exactly this", run: async () => copy(await link(), "The link is copied.") }];
  const { name = "qkv", command, drawing, png, table } = takings ?? {};
  if (command) entries.push({ label: "Command", detail: command, run: () => copy(command, "The command is copied.") });
  if (drawing) {
    const palette = palettes[ground.value];
    entries.push(
      {
        label: "SVG",
        detail: "the picture, sharp at every size",
        run: async () => save(new Blob([svgFile(drawing(), palette)], { type: "image/svg+xml" }), `${name}.svg`),
      },
      { label: "PNG", detail: "the picture in pixels", run: async () => save(await pngFile(drawing(), palette), `${name}.png`) },
    );
  }
  if (png) entries.push({ label: "PNG", detail: "the picture in pixels", run: async () => save(await png(), `${name}.png`) });
  entries.push({
    label: "This page as a file",
    detail: "works without qkv and without network; what you have looked at is in it",
    run: async () => {
      const page = await thisPage(engine, startsWith(`#${await fragmentOf(address.value)}`));
      return save(new Blob([page], { type: "text/html" }), `${name}.html`);
    },
  });
  if (table) entries.push(...tableEntries(name, table));
  return entries;
}

function tableEntries(page: string, { name, csv, array }: TakenTable): Entry[] {
  const csvFile = () => new Blob([csv()], { type: "text/csv" });
  const npyFile = (tensor: Tensor) => new Blob([npyOf(tensor)], { type: "application/octet-stream" });
  const entries = [{ label: "CSV", detail: `${name}, all digits`, run: async () => save(csvFile(), `${page}-${name}.csv`) }];
  if (array) entries.push({ label: ".npy", detail: `${name}, for NumPy`, run: async () => save(npyFile(array()), `${page}-${name}.npy`) });
  return entries;
}

async function link(): Promise<string> {
  return `${location.href.replace(/#.*$/s, "")}#${await fragmentOf(address.value)}`;
}

async function copy(text: string, done: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return done;
  } catch {
    return text; // no clipboard here: the text itself can be selected
  }
}

function save(blob: Blob, name: string): string {
  const url = URL.createObjectURL(blob);
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  return `Saved as ${name}.`;
}

interface TakeAlongProps {
  engine: Engine;
  takings: Signal<Takings | null>;
  open: Signal<boolean>;
}

export function TakeAlong({ engine, takings, open }: TakeAlongProps) {
  const said = useSignal("");
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const shown = open.value;

  useEffect(() => {
    if (!shown) return;
    box.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const away = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) open.value = false;
    };
    addEventListener("pointerdown", away);
    return () => removeEventListener("pointerdown", away);
  }, [shown]);

  const onKeyDown = (event: KeyboardEvent) => {
    const items = [...(box.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    if (event.key === "Escape") {
      open.value = false;
      button.current?.focus();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      items[(at + (event.key === "ArrowDown" ? 1 : items.length - 1)) % items.length]?.focus();
    } else return;
    event.preventDefault();
  };

  return (
    <div class="take" ref={box} onKeyDown={onKeyDown}>
      <button
        type="button"
        ref={button}
        aria-haspopup="menu"
        aria-expanded={shown}
        onClick={() => {
          open.value = !shown;
          said.value = "";
        }}
      >
        Take along
      </button>
      {shown && (
        <div class="menu">
          <div role="menu" aria-label="Take along">
            {entriesOf(engine, takings.value).map((entry) => (
              <button
                key={entry.label}
                type="button"
                role="menuitem"
                tabIndex={-1}
                onClick={() => void entry.run().then((text) => (said.value = text), (error: unknown) => (said.value = String(error)))}
              >
                <b>{entry.label}</b>
                <span>{entry.detail}</span>
              </button>
            ))}
          </div>
          <output>{said.value}</output>
        </div>
      )}
    </div>
  );
}
