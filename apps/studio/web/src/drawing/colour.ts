// The colour maps of include/qkv/picture/colour.h, made from the same knots in the same way.

import type { Ground } from "./palette";

export type ColourMap = "sequential" | "diverging";
type Triple = [number, number, number];

export const colourCount = 256;

// Lightness, chroma, hue in degrees (OKLCh).
const sequentialLight: Triple[] = [
  [0.985, 0.008, 95],
  [0.9, 0.075, 120],
  [0.78, 0.105, 165],
  [0.63, 0.105, 210],
  [0.46, 0.115, 255],
  [0.27, 0.09, 275],
];
const sequentialDark = ["#15171d", "#313869", "#2d6ca8", "#21abb8", "#83e2b1", "#f1fac0"];
const arms: Record<Ground, [number, number][]> = {
  light: [
    [0.97, 0],
    [0.87, 0.055],
    [0.73, 0.11],
    [0.58, 0.138],
    [0.42, 0.117],
  ],
  dark: [
    [0.21, 0],
    [0.38, 0.07],
    [0.55, 0.115],
    [0.71, 0.12],
    [0.87, 0.07],
  ],
};
const negativeHue = 250;
const positiveHue = 45;

function times(matrix: readonly Triple[], vector: Triple): Triple {
  return matrix.map((row) => row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2]) as Triple;
}

const lmsOfLinear: Triple[] = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
];
const labOfLms: Triple[] = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
];
const lmsOfLab: Triple[] = [
  [1, 0.3963377774, 0.2158037573],
  [1, -0.1055613458, -0.0638541728],
  [1, -0.0894841775, -1.291485548],
];
const linearOfLms: Triple[] = [
  [4.0767416621, -3.3077115913, 0.2309699292],
  [-1.2684380046, 2.6097574011, -0.3413193965],
  [-0.0041960863, -0.7034186147, 1.707614701],
];

function linearOfHex(hex: string): Triple {
  return [1, 3, 5].map((at) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Triple;
}

function hexOfLab(lab: Triple): string {
  const linear = times(linearOfLms, times(lmsOfLab, lab).map((cone) => cone ** 3) as Triple);
  const channels = linear.map((light) => {
    const within = Math.min(Math.max(light, 0), 1);
    const value = within <= 0.0031308 ? 12.92 * within : 1.055 * within ** (1 / 2.4) - 0.055;
    return Math.round(255 * value).toString(16).padStart(2, "0");
  });
  return `#${channels.join("")}`;
}

const labOfHex = (hex: string) => times(labOfLms, times(lmsOfLinear, linearOfHex(hex)).map(Math.cbrt) as Triple);

function labOfKnot([lightness, chroma, hue]: Triple): Triple {
  const angle = (hue * Math.PI) / 180;
  return [lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)];
}

/** The Catmull-Rom spline through the knots, at `at` in [0, knots - 1]. */
function onSpline(knots: readonly Triple[], at: number): Triple {
  const last = knots.length - 1;
  const from = Math.min(Math.floor(at), last - 1);
  const t = at - from;
  const knot = (index: number, axis: number): number => {
    if (index < 0) return 2 * knots[0]![axis]! - knots[1]![axis]!;
    if (index > last) return 2 * knots[last]![axis]! - knots[last - 1]![axis]!;
    return knots[index]![axis]!;
  };
  return [0, 1, 2].map((axis) => {
    const [a, b, c, d] = [knot(from - 1, axis), knot(from, axis), knot(from + 1, axis), knot(from + 2, axis)];
    return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
  }) as Triple;
}

/** `count` points on the spline through `corners`, equally far apart along it. */
function evenlySpaced(corners: readonly Triple[], count: number): Triple[] {
  const fine = 4096;
  const spline = (step: number) => onSpline(corners, ((corners.length - 1) * step) / fine);
  const lengths = [0];
  let previous = spline(0);
  for (let step = 1; step <= fine; ++step) {
    const next = spline(step);
    lengths.push(lengths[step - 1]! + Math.hypot(next[0] - previous[0], next[1] - previous[1], next[2] - previous[2]));
    previous = next;
  }
  const points: Triple[] = [];
  for (let i = 0, step = 0; i < count; ++i) {
    while (step < fine && lengths[step]! < (lengths[fine]! * i) / (count - 1)) ++step;
    points.push(spline(step));
  }
  return points;
}

function makeSequential(ground: Ground): string[] {
  const corners = ground === "dark" ? sequentialDark.map(labOfHex) : sequentialLight.map(labOfKnot);
  return evenlySpaced(corners, colourCount).map(hexOfLab);
}

// An even number of entries has no middle one: both arms begin half a step away from it.
function armOf(hue: number, ground: Ground): string[] {
  const knots = arms[ground].map(([lightness, chroma]) => labOfKnot([lightness, chroma, hue]));
  return evenlySpaced(knots, colourCount)
    .filter((_, n) => n % 2 === 1)
    .map(hexOfLab);
}

function makeDiverging(ground: Ground): string[] {
  return [...armOf(negativeHue, ground).reverse(), ...armOf(positiveHue, ground)];
}

const made = new Map<string, string[]>();

function coloursOf(map: ColourMap, ground: Ground): string[] {
  const key = `${map} ${ground}`;
  const known = made.get(key) ?? (map === "sequential" ? makeSequential(ground) : makeDiverging(ground));
  made.set(key, known);
  return known;
}

/** Entry `index` (0 to colourCount - 1, clamped) of a map. */
export function colourAt(map: ColourMap, index: number, ground: Ground): `#${string}` {
  const entry = Math.min(Math.max(Math.trunc(index), 0), colourCount - 1);
  return coloursOf(map, ground)[entry] as `#${string}`;
}

/** The entry nearest to `fraction` in [0, 1] (clamped; NaN gives entry 0). */
export function colourOf(map: ColourMap, fraction: number, ground: Ground): `#${string}` {
  return colourAt(map, fraction > 0 ? Math.round(Math.min(fraction, 1) * (colourCount - 1)) : 0, ground);
}

function luminance(hex: string): number {
  const [red, green, blue] = linearOfHex(hex);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Ratio of the relative luminances of two colours, 1 to 21 (WCAG 2.2, section 1.4.3). */
export function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const ink = "#1a1c22";

/** Ink or white, whichever can be read on `background`. */
export function textColourOn(background: string): `#${string}` {
  if (contrast(ink, background) >= 4.5) return ink;
  return contrast("#ffffff", background) >= 4.5 ? "#ffffff" : "#000000";
}

/** How a matrix maps to colours: weights from 0 to 1, signed numbers to the larger of both ends. */
export interface Scale {
  map: ColourMap;
  least: number;
  most: number;
  /** Equal factors are equally far apart; `least` is above 0. */
  logarithmic?: boolean;
}

/** Where a value lies on its scale, 0 to 1. */
export function shareOf({ least, most, logarithmic }: Scale, value: number): number {
  const share = logarithmic
    ? Math.log(Math.max(value, least) / least) / Math.log(most / least)
    : most > least
      ? (value - least) / (most - least)
      : 0.5;
  return Math.min(Math.max(share, 0), 1);
}

export function coloured(scale: Scale, value: number, ground: Ground): `#${string}` {
  return colourOf(scale.map, shareOf(scale, value), ground);
}
