// Bytes as text, five characters for four of them, where base64 takes eight for six. None of the characters ends a script
// or a text of JSON. The counterpart of base85() in apps/studio/file/encodings.cc.

const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&>()[]{}@%$#_";
const base = digits.length;
const places = new Map(Array.from(digits, (digit, place) => [digit.charCodeAt(0), place]));

export function base85(bytes: Uint8Array): string {
  const characters = new Uint8Array(Math.ceil(bytes.length / 4) * 5);
  const codes = Uint8Array.from(digits, (digit) => digit.charCodeAt(0));
  const whole = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  whole.set(bytes);
  const view = new DataView(whole.buffer);
  for (let group = 0; group < whole.length / 4; ++group) {
    let number = view.getUint32(4 * group);
    for (let n = 4; n >= 0; --n) {
      characters[5 * group + n] = codes[number % base] ?? 0;
      number = Math.floor(number / base);
    }
  }
  return new TextDecoder().decode(characters.subarray(0, Math.ceil((bytes.length * 5) / 4)));
}

/** Throws for a character that is none of its digits. */
export function fromBase85(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil(text.length / 5) * 4);
  const view = new DataView(bytes.buffer);
  for (let group = 0; group < bytes.length / 4; ++group) {
    let number = 0;
    for (let at = 5 * group; at < 5 * group + 5; ++at) number = number * base + (at < text.length ? digitAt(text, at) : base - 1);
    view.setUint32(4 * group, number);
  }
  return bytes.subarray(0, Math.floor((text.length * 4) / 5));
}

function digitAt(text: string, at: number): number {
  const place = places.get(text.charCodeAt(at));
  if (place === undefined) throw new Error(`bytes in the page: expected a digit of base 85, got “${text.charAt(at)}”`);
  return place;
}
