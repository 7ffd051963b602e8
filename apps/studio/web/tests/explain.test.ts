import { describe, expect, it } from "vitest";
import type { ExplainedPicture } from "../src/engine/messages";
import type { Tensor } from "../src/engine/tensor";
import { chartDrawing, diagramDrawing, imageDrawing, veilBytes } from "../src/pages/explain/drawings";
import { pixelBytes } from "../src/drawing/pixel_bytes";
import { matrix } from "./chapter";

const picture: ExplainedPicture = {
  id: "one",
  title: "One",
  text: "One picture",
  x_axis: "",
  y_axis: "",
  logarithmic: false,
  series: [],
  diagram: null,
  image: null,
  weights: null,
  marked: null,
};

describe("pictures of an explanation", () => {
  it("label a few points of a logarithmic chart", () => {
    const series = [{ name: "q·k", x: [8, 64, 512], y: [8, 64, 512] }];
    const { marks } = chartDrawing({ ...picture, x_axis: "d_k", y_axis: "variance", logarithmic: true, series }, 400);
    const texts = marks.flatMap((mark) => (mark.kind === "label" ? [mark.text] : []));
    expect(texts).toEqual(expect.arrayContaining(["8", "64", "512", "d_k", "variance"]));
  });

  it("draw strokes, boxes and captions of a diagram in the colours that they name", () => {
    const { width, marks, title } = diagramDrawing("Flow", {
      width: 30,
      height: 30,
      strokes: [
        { kind: "arrow", ink: "query", x: [0, 3], y: [0, 6] },
        { kind: "area", ink: "value", x: [0, 3, 3], y: [0, 0, 3] },
      ],
      boxes: [{ x: 3, y: 3, width: 6, height: 6, text: "softmax", ink: "key", fill: "strong" }],
      captions: [{ x: 9, y: 9, text: "q", ink: "query", align: "right" }],
    });
    expect([title, width]).toEqual(["Flow", 52]);
    expect(marks[0]).toMatchObject({ kind: "line", arrow: true, stroke: "q", points: [[6, 6], [10, 14]] });
    expect(marks[1]).toMatchObject({ fill: "v", opacity: 0.12 });
    expect(marks.find((mark) => mark.kind === "box")).toMatchObject({ x: 10, width: 8, fill: "k", opacity: 0.35 });
    expect(marks.at(-1)).toMatchObject({ kind: "label", text: "q", anchor: "end", x: 18, fill: "q" });
  });

  it("lay a veil over what has little weight, and frames about marked patches", () => {
    expect(Array.from(veilBytes(matrix([[0.5, 0]])))).toEqual([0x15, 0x17, 0x1d, 0, 0x15, 0x17, 0x1d, 217]);
    const image: Tensor = { dtype: "u8", shape: [2, 4, 3], values: new Uint8Array(24).fill(7) };
    const bytes = pixelBytes(image);
    expect(Array.from(bytes.subarray(0, 4))).toEqual([7, 7, 7, 255]);
    const drawing = imageDrawing({ ...picture, weights: matrix([[0.5, 0]]), marked: matrix([[0, 1]]) }, image, bytes);
    expect([drawing.width, drawing.height]).toEqual([176, 88]);
    expect(drawing.marks.map((mark) => mark.kind)).toEqual(["pixels", "pixels", "box"]);
    expect(drawing.marks[2]).toMatchObject({ x: 88, y: 0, width: 88, height: 88 });
  });
});
