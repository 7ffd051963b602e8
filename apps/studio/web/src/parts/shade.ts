// The scales on which weights are coloured: from 0 to 1, as they are; by their order of magnitude; and as how many times what they
// would be if the query read all its keys alike.

import type { Fields } from "../app/address";
import type { Scale } from "../drawing/colour";

export type Shade = "plain" | "log" | "uniform";

export interface Shading {
  scale: Scale;
  /** On the legend. */
  name: string;
  ends: readonly [string, string];
}

export const shadings: Readonly<Record<Shade, Shading>> = {
  plain: { scale: { map: "sequential", least: 0, most: 1 }, name: "linear", ends: ["0", "1"] },
  log: { scale: { map: "sequential", least: 1e-4, most: 1, logarithmic: true }, name: "log", ends: ["10⁻⁴", "1"] },
  uniform: { scale: { map: "sequential", least: 1 / 16, most: 16, logarithmic: true }, name: "× uniform", ends: ["1/16", "16 ×"] },
};

const allShades: readonly Shade[] = ["plain", "log", "uniform"];

/** The address's choice. */
export function shadeOf(fields: Fields): Shade {
  return allShades.find((shade) => shade === fields["shade"]) ?? "plain";
}

/** What the address says after the next click on the legend. */
export function nextShade(now: Shade): { shade: string | null } {
  const next = allShades[(allShades.indexOf(now) + 1) % allShades.length] ?? "plain";
  return { shade: next === "plain" ? null : next };
}
