// MathML from the engine. Only elements and attributes of MathML are taken over, whatever the text holds.

import { useEffect, useRef } from "preact/hooks";
import type { Formula as Written } from "../engine/messages";

const namespace = "http://www.w3.org/1998/Math/MathML";
const elements = new Set(
  ("math mrow mi mn mo ms mtext mspace msub msup msubsup mfrac msqrt mroot munder mover munderover mtable mtr mtd mstyle " +
    "mpadded mphantom menclose").split(" "),
);
const attributes = new Set(
  ("data-name mathvariant stretchy fence separator form lspace rspace largeop movablelimits accent accentunder columnalign " +
    "rowspacing columnspacing width height depth linethickness displaystyle scriptlevel").split(" "),
);

function copied(from: Node): Node | null {
  if (from.nodeType === Node.TEXT_NODE) return document.createTextNode(from.textContent ?? "");
  if (!(from instanceof Element) || !elements.has(from.localName)) return null;
  const to = document.createElementNS(namespace, from.localName);
  for (const { name, value } of from.attributes) if (attributes.has(name)) to.setAttribute(name, value);
  for (const child of from.childNodes) {
    const copy = copied(child);
    if (copy) to.append(copy);
  }
  return to;
}

export function Formula({ formula, block = false }: { formula: Written; block?: boolean }) {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (!place.current) return;
    const source = `<math xmlns="${namespace}">${formula.mathml}</math>`;
    const parsed = new DOMParser().parseFromString(source, "application/xml").documentElement;
    const math = formula.mathml && parsed.localName === "math" ? copied(parsed) : null;
    if (math instanceof Element && block) math.setAttribute("display", "block");
    place.current.replaceChildren(math ?? formula.text);
  }, [formula.mathml, formula.text, block]);
  return <span class="formula" ref={place} aria-label={formula.text} role="math" />;
}
