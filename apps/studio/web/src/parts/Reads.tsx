// Keys that a query reads, each with its weight as a bar, and a button.

import { shown } from "../drawing/numbers";
import "./reads.css";

export interface Read {
  key: number;
  word: string;
  place: string;
  weight: number;
}

interface ReadsProps {
  class: string;
  reads: readonly Read[];
  title?: string;
  isPressed: (key: number) => boolean;
  onPress: (key: number) => void;
}

export function Reads({ reads, title, isPressed, onPress, ...props }: ReadsProps) {
  return (
    <ol class={`reads ${props.class}`}>
      {reads.map(({ key, word, place, weight }) => (
        <li key={key}>
          <button type="button" aria-pressed={isPressed(key)} onClick={() => onPress(key)} title={title}>
            <span class="read-token">{word}</span>
            <span class="read-place">{place}</span>
            <span class="measure" aria-hidden="true">
              <span style={{ width: `${100 * weight}%` }} />
            </span>
            <span class="read-weight">{shown(weight, 3)}</span>
          </button>
        </li>
      ))}
    </ol>
  );
}
