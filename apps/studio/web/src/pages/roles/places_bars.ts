// The numbers below the tokens: divergences, or of a model of states how far each went.

import type { ChangeFigures } from "../../engine/messages";

export interface PlaceBars {
  title: string;
  says: string;
  unit: string;
  decimals: number;
  values: readonly number[];
  /** Of the bars, 0 to 1. */
  heights: number[];
}

const least = 0.01; // nats that still make a full bar: less is no difference to speak of

/** null where the engine measures neither. */
export function barsOf({
  divergence = [],
  state_cosines = [],
}: Pick<ChangeFigures, "divergence" | "state_cosines">): PlaceBars | null {
  if (divergence.length > 0) {
    const top = Math.max(...divergence, least);
    return {
      title: "Where it now says something else",
      says: "Kullback-Leibler divergence of what is said from what was said, in nats: 0 where nothing changed.",
      unit: "divergence",
      decimals: 2,
      values: divergence,
      heights: divergence.map((one) => Math.max(one, 0) / top),
    };
  }
  if (state_cosines.length > 0) {
    return {
      title: "How much of each token’s state is left",
      says: "Cosine of the state before and after: 1 where nothing changed.",
      unit: "cosine",
      decimals: 3,
      values: state_cosines,
      heights: state_cosines.map((one) => Math.max(one, 0)),
    };
  }
  return null;
}
