// How each page, and each part of one, was left: the way back to it leads there.

import { effect } from "@preact/signals";
import { address, type Address, type Fields } from "./address";

const lastOf = new Map<string, Address>(); // by the page's name, "patterns", and by its part's, "patterns/cost"

/** Begins with the address as it is: before the first link is read, it is nobody's. */
export function rememberPages(): void {
  effect(() => {
    const now = address.value;
    lastOf.set(now.page, now);
    lastOf.set(now.page.split("/")[0] ?? "", now);
  });
}

/** Null where it has not been looked at. */
export function leftAt(page: string): Address | null {
  return lastOf.get(page) ?? null;
}

/** What was chosen there; nothing where it has not been looked at. */
export function fieldsLeftAt(page: string): Fields {
  return leftAt(page)?.fields ?? {};
}
