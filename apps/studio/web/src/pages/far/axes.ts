// Ticks along an axis of up to a million places: round numbers from afar, words from near.

export const wordsFrom = 13; // pixels of a pair

export interface Tick {
  at: number;
  /** Pixels from the begin of the picture, of the middle of the place. */
  pixel: number;
}

/** 1, 2 or 5 times a power of ten, at least `apart` pixels from one to the next. */
export function tickStep(scale: number, apart: number): number {
  const least = Math.max(apart / scale, 1);
  const power = 10 ** Math.floor(Math.log10(least) + 1e-9);
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least * (1 - 1e-9)) ?? 10 * power;
}

/** The places in view that are multiples of `step`. */
export function ticks(from: number, scale: number, room: number, count: number, step: number): Tick[] {
  const all: Tick[] = [];
  for (let at = Math.max(0, Math.ceil(from / step) * step); at < count; at += step) {
    const pixel = (at + 0.5 - from) * scale;
    if (pixel > room) break;
    if (pixel >= 0) all.push({ at, pixel });
  }
  return all;
}

/** At most `most` characters, without line ends. */
export function shortWord(word: string, most: number): string {
  const characters = [...word.replace(/\s+/g, "␣")];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : characters.join("");
}
