// A page in a file: where each of its pages begins. The element #starts holds addresses, the first of which opens.

import { plainFragment } from "./address";
import type { Page } from "./page";

const starts: readonly string[] = read();

function read(): string[] {
  const element = typeof document === "undefined" ? null : document.getElementById("starts");
  const json: unknown = JSON.parse(element?.textContent ?? "[]");
  return Array.isArray(json) ? json.filter((one) => typeof one === "string") : [];
}

/** What opens where the address says nothing; null where the pages decide. */
export const firstStart: string | null = starts[0] ?? null;

/** The starts of a file that opens at `first`: the other pages of this file begin where they did. */
export function startsWith(first: string): string[] {
  return [first, ...starts.filter((start) => pageOf(start) !== pageOf(first))];
}

/** Where the link to a page leads. */
export function startOf(page: Page): string {
  return starts.find((start) => pageOf(start) === page.name) ?? `#${plainFragment({ page: page.name, fields: {} })}`;
}

function pageOf(start: string): string {
  return start.replace(/^#\/?/, "").split(/[/?]/)[0] ?? "";
}

/** The pages that can be gone to: in a file without an engine, those that it was made with. */
export function offered(all: readonly Page[], isLive: boolean): readonly Page[] {
  if (isLive || starts.length === 0) return all;
  return all.filter((page) => starts.some((start) => pageOf(start) === page.name));
}
