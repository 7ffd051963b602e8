// MathML from the engine. Only elements and attributes of MathML are taken over, whatever the text holds.

import { useLayoutEffect, useRef } from "preact/hooks";
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

// A browser makes a lone letter italic by another character, and few fonts hold the italic Greek ones.
const greek = /^[\p{Script=Greek}∂∇]$/u;

function copied(from: Node): Node | null {
  if (from.nodeType === Node.TEXT_NODE) return document.createTextNode(from.textContent ?? "");
  if (!(from instanceof Element) || !elements.has(from.localName)) return null;
  const to = document.createElementNS(namespace, from.localName);
  for (const { name, value } of from.attributes) if (attributes.has(name)) to.setAttribute(name, value);
  for (const child of from.childNodes) {
    const copy = copied(child);
    if (copy) to.append(copy);
  }
  if (to.localName === "mi" && greek.test(to.textContent ?? "") && !to.hasAttribute("mathvariant")) {
    to.setAttribute("mathvariant", "normal");
    to.classList.add("italic");
  }
  return to;
}

/** The terms of nested rows in one row. */
function flat(node: Node): Node[] {
  if (!(node instanceof Element) || node.localName !== "mrow") return [node];
  return [...node.childNodes].flatMap(flat);
}

const breaks = new Set(["=", "+", "≈"]);

const longVector = 5; // commas; with more, lines are broken after them too

// A browser breaks no line inside of <math>: each side of an equation, each term of a sum,
// and each number of a vector becomes one of its own.
function pieces(math: Element): Element[] {
  const made: Element[] = [];
  let depth = 0;
  const nodes = [...math.childNodes].flatMap(flat);
  const isLong = nodes.filter((node) => node.textContent === ",").length > longVector;
  for (const node of nodes) {
    const text = node.textContent ?? "";
    if (text === "(") ++depth;
    if (text === ")") --depth;
    const last = made.at(-1);
    const isAfterComma = isLong && last?.lastChild?.textContent === ",";
    const isBreak = depth === 0 && breaks.has(text) && node instanceof Element && last !== undefined;
    if (isBreak) node.setAttribute("form", "infix"); // at the head of its piece it would be a sign
    if (last && !isBreak && !isAfterComma) last.append(node);
    else {
      const next = document.createElementNS(namespace, "math");
      next.setAttribute("displaystyle", "true");
      next.append(node);
      made.push(next);
    }
  }
  return made;
}

export function Formula({ formula }: { formula: Written }) {
  const place = useRef<HTMLSpanElement>(null);
  // Before the browser paints, so that it stands in the same frame as the numbers around it.
  useLayoutEffect(() => {
    if (!place.current) return;
    const source = `<math xmlns="${namespace}">${formula.mathml}</math>`;
    const parsed = new DOMParser().parseFromString(source, "application/xml").documentElement;
    const math = formula.mathml && parsed.localName === "math" ? copied(parsed) : null;
    const parts = math instanceof Element ? pieces(math).flatMap((piece) => [piece, "\u200b"]) : [formula.text];
    place.current.replaceChildren(...parts);
  }, [formula.mathml, formula.text]);
  return <span class="formula" ref={place} aria-label={formula.text} role="math" />;
}
