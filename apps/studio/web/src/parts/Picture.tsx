// A drawing as an SVG of the page, as wide as its place.

import { useRef } from "preact/hooks";
import type { Drawing } from "../drawing/marks";
import { svgElements } from "../drawing/svg";
import { useWidth } from "./use_width";

export function Picture({ draw, most = 720 }: { draw: (width: number) => Drawing; most?: number }) {
  const place = useRef<HTMLDivElement>(null);
  const { width, height, title, marks } = draw(Math.max(Math.min(useWidth(place, 480), most), 200));
  return (
    <div class="drawn" ref={place}>
      <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={title}>
        {svgElements(marks)}
      </svg>
    </div>
  );
}
