// What the colours of a matrix mean; where there are other scales, a click takes the next.

import { ground } from "../app/theme";
import { colourOf, type Scale } from "../drawing/colour";
import { shown } from "../drawing/numbers";
import "./legend.css";

export interface LegendProps {
  scale: Scale;
  decimals: number;
  what: string;
  /** The name of the scale, where there is a choice. */
  name?: string | undefined;
  /** What stands at its ends, where that is no number. */
  ends?: readonly [string, string] | undefined;
  onClick?: (() => void) | undefined;
}

const steps = 24;

export function Legend({ scale, decimals, what, name, ends, onClick }: LegendProps) {
  const [from, to] = ends ?? [shown(scale.least, decimals), shown(scale.most, decimals)];
  const label = `${what}: colours from ${from} to ${to}`;
  const colours = (
    <>
      <span>{from}</span>
      <svg viewBox={`0 0 ${steps} 1`} preserveAspectRatio="none" aria-hidden="true">
        {Array.from({ length: steps }, (_, n) => (
          <rect key={n} x={n} y={0} width={1.05} height={1} fill={colourOf(scale.map, (n + 0.5) / steps, ground.value)} />
        ))}
      </svg>
      <span>{to}</span>
    </>
  );
  if (!onClick) {
    return (
      <div class="legend" role="img" aria-label={label}>
        {colours}
      </div>
    );
  }
  return (
    <button type="button" class="legend" title="Another scale of colours" onClick={onClick}>
      <span class="said">{what}: colours from </span>
      {colours}
      {name && <b>{name}</b>}
      <span class="said">: another scale</span>
    </button>
  );
}
