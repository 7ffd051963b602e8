import { describe, expect, it } from "vitest";
import { opening } from "../src/app/opening";

const named = (given: object) => ({ model: "", text: "", mask: "", file: "", ...given });
const pages = ["step", "heads", "far", "patterns"];

describe("the studio opens", () => {
  it("step by step where nothing is named", () => {
    expect(opening(named({}), pages)).toEqual({ page: "step", fields: {} });
    expect(opening(named({ text: "a b" }), pages)).toEqual({ page: "step", fields: { text: "a b" } });
  });

  it("at the heads of a model", () => {
    expect(opening(named({ model: "gpt", text: "Hello" }), pages)).toEqual({ page: "heads", fields: { model: "gpt", text: "Hello" } });
  });

  it("at a mask", () => {
    expect(opening(named({ mask: "causal" }), pages)).toEqual({ page: "patterns/mask", fields: { mask: "causal" } });
  });

  it("far away with a file, if there is such a page", () => {
    const book = named({ model: "gpt", file: "book.txt" });
    expect(opening(book, pages)).toEqual({ page: "far", fields: { model: "gpt" } });
    expect(opening(book, ["step", "heads"])).toEqual({ page: "heads", fields: { model: "gpt" } });
  });
});
