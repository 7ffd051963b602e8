import { describe, expect, it } from "vitest";
import { categoryOf, lowerCase, matches } from "../src/worker/unicode";

// GPT-2's, with its classes written out as qkv writes them.
const space = "\\t-\\r\\x{85}\\p{Z}";
const gpt2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^${space}\\p{L}\\p{N}]+|[${space}]+(?![^${space}])|[${space}]+`;

function pieces(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  return matches(gpt2, text)!.map(([begin, end]) => new TextDecoder().decode(bytes.subarray(begin, end)));
}

describe("the browser's Unicode", () => {
  it("cuts a text as GPT-2 does", () => {
    expect(pieces("The cat's 12 mice, naïve!  Ça")).toEqual(["The", " cat", "'s", " 12", " mice", ",", " naïve", "!", " ", " Ça"]);
  });

  it("counts places in bytes of UTF-8, also beyond the first plane", () => {
    expect(matches("\\p{L}+", "é😀𝒜b")).toEqual([[0, 2], [6, 11]]);
  });

  it("says what is no pattern here", () => {
    expect(matches("a++", "aa")).toBeNull();
  });

  it("numbers categories as utf8proc does", () => {
    expect(["A", "a", "一", "\u0301", "7", "Ⅷ", "_", "!", "+", " ", "\n", "\u200d", "\ue000"].map((c) => categoryOf(c.codePointAt(0)!))).toEqual([1, 2, 5, 6, 9, 10, 12, 18, 19, 23, 26, 27, 29]);
    expect(categoryOf(0x378)).toBe(0);
  });

  it("makes one small letter of one large", () => {
    expect(["A", "É", "ß", "İ"].map((c) => lowerCase(c.codePointAt(0)!))).toEqual(["a", "é", "ß", "İ"].map((c) => c.codePointAt(0)!));
  });
});
