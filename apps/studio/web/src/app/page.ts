// What the frame has to know of a page.

import type { Signal } from "@preact/signals";
import type { ComponentType } from "preact";
import type { Drawing } from "../drawing/marks";
import type { Engine } from "../engine/engine";
import type { Tensor } from "../engine/tensor";
import type { Fields } from "./address";

export interface PageProps {
  engine: Engine;
  /** The page puts there what can be taken along, or null while there is nothing. */
  takings: Signal<Takings | null>;
}

export interface Page {
  /** "step": the address is #/step. */
  name: string;
  /** In the header. */
  title: string;
  View: ComponentType<PageProps>;
  /** The text bar of the header, for pages that read a text. */
  text?: TextBar;
}

export interface TextBar {
  label: string;
  /** The text as the address has it, or the default. */
  value(fields: Fields): string;
  /** Fields of the address that change with a new text. */
  change(fields: Fields, text: string): Record<string, string | null>;
  /** False where the engine cannot answer for another text; the bar is then read only. */
  isOpen?(engine: Engine, fields: Fields): boolean;
}

/** A name fit for a file, and ways to make each form. Forms that a page cannot give are left out. */
export interface Takings {
  name: string;
  command?: string;
  drawing?: () => Drawing;
  /** Of what is no drawing: pixels alone. */
  png?: () => Promise<Blob>;
  table?: TakenTable;
}

export interface TakenTable {
  name: string;
  csv: () => string;
  /** Where the table is one array of numbers. */
  array?: () => Tensor;
}
