// What the colours of a matrix mean.

import { ground } from "../app/theme";
import { coloured, type Scale } from "../drawing/colour";
import { shown } from "../drawing/numbers";

export function Legend({ scale, decimals, what }: { scale: Scale; decimals: number; what: string }) {
  const steps = 24;
  const span = scale.most - scale.least;
  return (
    <div class="legend" role="img" aria-label={`${what}: colours from ${shown(scale.least, decimals)} to ${shown(scale.most, decimals)}`}>
      <span>{shown(scale.least, decimals)}</span>
      <svg viewBox={`0 0 ${steps} 1`} preserveAspectRatio="none" aria-hidden="true">
        {Array.from({ length: steps }, (_, n) => (
          <rect key={n} x={n} y={0} width={1.05} height={1} fill={coloured(scale, scale.least + (span * (n + 0.5)) / steps, ground.value)} />
        ))}
      </svg>
      <span>{shown(scale.most, decimals)}</span>
    </div>
  );
}
