// The tensors of a reply that is frozen into a page: words of four bytes. Where few of them differ, as those that are
// rounded to what is shown: each of them once, the most frequent first, and of each word which it is, in two bytes. Either
// lies in planes: the first byte of each, then the second of each. The counterpart of apps/studio/file/packed_blocks.cc.

export interface PackedBlocks {
  words: number; // that stand once; 0: all words, as they come
  bytes: Uint8Array;
}

const wordBytes = 4;
const mostWords = 1 << 16;

export function packedBlocks(blocks: Uint8Array): PackedBlocks {
  const all = wordsIn(blocks);
  const counts = new Map<number, number>();
  for (const word of all) counts.set(word, (counts.get(word) ?? 0) + 1);
  const isShorter = counts.size * wordBytes + all.length * 2 < blocks.length;
  if (counts.size > mostWords || !isShorter) return { words: 0, bytes: planesOf(all, wordBytes) };
  const words = Uint32Array.from([...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([word]) => word));
  const places = new Map<number, number>();
  words.forEach((word, place) => places.set(word, place));
  const numbers = all.map((word) => places.get(word) ?? 0);
  const bytes = new Uint8Array(words.length * wordBytes + numbers.length * 2);
  bytes.set(planesOf(words, wordBytes));
  bytes.set(planesOf(numbers, 2), words.length * wordBytes);
  return { words: words.length, bytes };
}

export function unpackedBlocks({ words, bytes }: PackedBlocks): Uint8Array {
  if (words === 0) return bytesOf(fromPlanes(bytes, wordBytes));
  const own = fromPlanes(bytes.subarray(0, words * wordBytes), wordBytes);
  return bytesOf(fromPlanes(bytes.subarray(words * wordBytes), 2).map((place) => own[place] ?? 0));
}

function wordsIn(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint32Array.from({ length: bytes.length / wordBytes }, (_, n) => view.getUint32(n * wordBytes, true));
}

function bytesOf(words: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(words.length * wordBytes);
  const view = new DataView(bytes.buffer);
  words.forEach((word, n) => view.setUint32(n * wordBytes, word, true));
  return bytes;
}

function planesOf(numbers: Uint32Array, planes: number): Uint8Array {
  const bytes = new Uint8Array(numbers.length * planes);
  for (let plane = 0; plane < planes; ++plane) {
    const shift = 8 * plane;
    numbers.forEach((number, n) => (bytes[plane * numbers.length + n] = (number >>> shift) & 0xff));
  }
  return bytes;
}

function fromPlanes(bytes: Uint8Array, planes: number): Uint32Array {
  const numbers = new Uint32Array(bytes.length / planes);
  bytes.forEach((byte, at) => {
    const n = at % numbers.length;
    numbers[n] = (numbers[n] ?? 0) + byte * 256 ** Math.floor(at / numbers.length);
  });
  return numbers;
}
