// What tokenizers ask of Unicode, answered by the browser's own regular expressions: apps/studio/wasm/stand_ins/unicode.cc.

// In the order of utf8proc's numbers.
const categories = "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co".split(" ");
const ofCategory = categories.map((name) => new RegExp(`^\\p{${name}}$`, "u"));

/** The bytes [begin, end) of each match, in UTF-8; null for a pattern that is none here. */
export function matches(pattern: string, text: string): [number, number][] | null {
  let compiled: RegExp;
  try {
    compiled = new RegExp(pattern.replaceAll("\\x{", "\\u{"), "gu");
  } catch {
    return null;
  }
  const encoder = new TextEncoder();
  const found: [number, number][] = [];
  let [at, bytes] = [0, 0];
  for (const { index, 0: match } of text.matchAll(compiled)) {
    const begin = bytes + encoder.encode(text.slice(at, index)).length;
    at = index + match.length;
    bytes = begin + encoder.encode(match).length;
    found.push([begin, bytes]);
  }
  return found;
}

export function categoryOf(character: number): number {
  const text = String.fromCodePoint(character);
  return Math.max(0, ofCategory.findIndex((one) => one.test(text)));
}

/** Where one character becomes several, it stays. */
export function lowerCase(character: number): number {
  const lower = String.fromCodePoint(character).toLowerCase();
  const first = lower.codePointAt(0)!;
  return String.fromCodePoint(first) === lower ? first : character;
}

export function unicode(memory: () => WebAssembly.Memory): WebAssembly.ModuleImports {
  const text = (at: number, bytes: number) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array(memory().buffer, at, bytes));
  return {
    find_all(pattern: number, patternBytes: number, at: number, bytes: number, bounds: number) {
      const found = matches(text(pattern, patternBytes), text(at, bytes));
      if (!found) return -1;
      new Uint32Array(memory().buffer, bounds, 2 * found.length).set(found.flat());
      return found.length;
    },
    category: categoryOf,
    lower_case: lowerCase,
  };
}
