// Sentences of the engine: "√d_k" with its k lowered.

const lowered = /_([A-Za-z0-9]+(?:,[0-9]+)?)/;

export function Prose({ text }: { text: string }) {
  const parts = text.split(lowered); // texts and what is lowered, in turn
  return <>{parts.map((part, n) => (n % 2 === 0 ? part : <sub key={n}>{part}</sub>))}</>;
}
