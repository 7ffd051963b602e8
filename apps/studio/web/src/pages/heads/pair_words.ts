// A pair in words.

import { shown } from "../../drawing/numbers";
import type { PairReply } from "../../engine/messages";

export function pairSentence({ query, key, dot, scale, score, weight }: PairReply): string {
  if (score === null) return `The mask hides “${key}” from “${query}”: the weight is 0.`;
  // Digits enough for the product to come out as it is said.
  const scaled = `times ${shown(scale, 6)} it is ${shown(dot * scale, 3)}`;
  return (
    `q of “${query}” times k of “${key}”, number by number, adds up to ${shown(dot, 3)}; ${scaled}, ` +
    `and the softmax of the row turns the score ${shown(score, 3)} into the weight ${shown(weight, 4)}.`
  );
}
