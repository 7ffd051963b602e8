// The way from the words to the output in one line; each stop leads to its step.

import "./flow.css";

export interface FlowStop {
  label: string;
  /** What happens on the way to it. */
  detail: string;
  /** Position on the rail. */
  at: number;
}

export interface FlowStripProps {
  stops: readonly FlowStop[];
  position: number;
  backward: boolean;
  onGo: (at: number) => void;
}

export function FlowStrip({ stops, position, backward, onGo }: FlowStripProps) {
  const here = stops.findLast((stop) => stop.at <= position + 1e-6);
  return (
    <ol class={`flow ${backward ? "backward" : ""}`} aria-label={backward ? "The way back" : "The way from words to output"}>
      {stops.map((stop) => (
        <li key={stop.label} class={stop === here ? "here" : stop.at <= position ? "passed" : ""}>
          <button type="button" title={stop.detail} aria-current={stop === here ? "step" : undefined} onClick={() => onGo(stop.at)}>
            {stop.label}
          </button>
        </li>
      ))}
    </ol>
  );
}
