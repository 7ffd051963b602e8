// The colours of what heads do: by what they read, by where they read, or where they rest.

import type { Ground } from "../../drawing/palette";

export interface Family {
  name: string;
  words: readonly string[];
  colours: Record<Ground, `#${string}`>;
}

export const families: readonly Family[] = [
  { name: "what was said", words: ["induction", "duplicate"], colours: { light: "#b1337e", dark: "#f08fc6" } },
  {
    name: "where it stands",
    words: ["previous", "next", "self", "place"],
    colours: { light: "#1f6fb5", dark: "#74b4f5" },
  },
  {
    name: "one fixed token",
    words: ["first", "last", "separator", "punctuation"],
    colours: { light: "#b5651d", dark: "#e8a863" },
  },
  { name: "all alike", words: ["broad"], colours: { light: "#7b808c", dark: "#8b91a0" } },
];

/** Of no family: "mixed". */
export const otherColours: Record<Ground, `#${string}`> = { light: "#e4e6ea", dark: "#343844" };

export function familyOf(word: string): Family | null {
  return families.find((family) => family.words.includes(word)) ?? null;
}

export function colourOfClass(word: string, ground: Ground): `#${string}` {
  return familyOf(word)?.colours[ground] ?? otherColours[ground];
}
