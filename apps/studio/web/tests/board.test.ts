import { describe, expect, it } from "vitest";
import type { Box, Label, Mark } from "../src/drawing/marks";
import { boardDrawing } from "../src/pages/step/board";
import { csvOf, finalScores, matrixOf, queryRow, scaleOf } from "../src/pages/step/matrices";
import { neighbourOf } from "../src/pages/step/neighbours";
import { eased } from "../src/pages/step/motion";
import { headBeside } from "../src/parts/HeadPicker";
import { planeFrame, planeMarks } from "../src/parts/VectorPlane";
import { chapter } from "./chapter";

const draw = (position: number, reply = chapter()) =>
  boardDrawing({ reply, position, width: 600, ground: "light" }).marks;
const boxes = (marks: readonly Mark[], name: string) =>
  marks.filter((mark): mark is Box => mark.kind === "box" && mark.name === name);
const texts = (marks: readonly Mark[]) =>
  marks.filter((mark): mark is Label => mark.kind === "label").map((label) => label.text);

describe("the picture of a step", () => {
  it("asks before it answers", () => {
    expect(texts(draw(0)).filter((text) => text === "?")).toHaveLength(3);
    expect(texts(draw(2))).not.toContain("?");
  });

  it("cuts a word that is longer than its column has room for", () => {
    const reply = { ...chapter(), keys: ["<script>alert(1)</script>", "cat", "sat"] };
    const words = texts(draw(0, reply)).filter((text) => text !== "?");
    expect(words).toContain("cat");
    expect(words.find((text) => text.startsWith("<script>"))).toMatch(/^.{8,20}…$/);
  });

  it("grows the dot products, and shrinks them by √d", () => {
    const [half] = boxes(draw(1.5), "raw:1,2");
    const [whole] = boxes(draw(2), "raw:1,2");
    const [scaled] = boxes(draw(3), "scaled:1,2");
    expect(half!.height).toBeCloseTo(whole!.height / 2);
    expect(scaled!.height).toBeCloseTo(whole!.height * Math.SQRT1_2);
  });

  it("has powers of e as high as they are, and weights", () => {
    const [small] = boxes(draw(3.75), "exp:1,0");
    const [one] = boxes(draw(3.75), "exp:1,2");
    expect(small!.height / one!.height).toBeCloseTo(0.493);
    const [weight] = boxes(draw(4), "weights:1,2");
    expect(weight!.height / one!.height).toBeCloseTo(0.401);
  });

  it("cuts a strip of length 1 into the weights", () => {
    const pieces = ["weights:1,0", "weights:1,1", "weights:1,2"].map((name) => boxes(draw(5), name).at(-1)!);
    expect(pieces.map((piece) => piece.width / 600)).toEqual(
      [0.198, 0.401, 0.401].map((share) => expect.closeTo(share)),
    );
    expect(pieces[2]!.x + pieces[2]!.width).toBeCloseTo(600);
  });

  it("is the same whichever way one comes, at every t", () => {
    for (let t = 0; t <= 5; t += 0.05) {
      for (const mark of draw(t)) {
        const numbers = mark.kind === "line" ? mark.points.flat() : [mark.x, mark.y];
        expect(numbers.every(Number.isFinite)).toBe(true);
      }
    }
  });

  it("hatches what the mask hides, and draws no weight there", () => {
    const marks = draw(4, chapter({ masked: true }));
    expect(texts(marks)).toContain("hidden");
    expect(boxes(marks, "weights:1,2").filter((box) => box.y < 190)).toEqual([]);
  });
});

describe("matrices of a reply", () => {
  it("are found, with the chosen query's row", () => {
    const reply = chapter({ masked: true });
    expect(queryRow(reply, "raw")).toEqual([0, 1, 1]);
    expect(queryRow(reply, "none")).toBeNull();
    expect(finalScores(reply)?.name).toBe("masked");
    expect(finalScores(chapter())?.name).toBe("scaled");
  });

  it("share one scale where they are compared", () => {
    const reply = chapter();
    expect(scaleOf(reply, matrixOf(reply, "scaled")!)).toEqual({ map: "diverging", least: -2, most: 2 });
    expect(scaleOf(reply, matrixOf(reply, "weights")!)).toEqual({ map: "sequential", least: 0, most: 1 });
    expect(scaleOf(reply, matrixOf(reply, "out")!)).toBeNull();
  });

  it("are written as CSV with every digit", () => {
    const text = csvOf({ ...matrixOf(chapter(), "scaled")!, rows: ["a,b", 'say "c"', "d"] });
    expect(text.split("\r\n")[1]).toBe(`"a,b",${Math.SQRT1_2},0,${Math.SQRT1_2}`);
    expect(text.split("\r\n")[2]).toMatch(/^"say ""c""",0,/);
  });

  it("name what a number is made of", () => {
    const reply = chapter();
    expect(neighbourOf(reply, "weights:1,2")).toEqual({
      name: "weights:1,2",
      label: "weights cat [sat]",
      values: "0.401",
    });
    expect(neighbourOf(reply, "q:1,*")).toEqual({ name: "q:1,0", label: "q cat", values: "(0, 1)" });
    expect(neighbourOf(reply, "v:*,1")).toEqual({ name: "v:0,1", label: "v [2]", values: "(0, 3, 1)" });
    expect(neighbourOf(reply, "sum:1,0")?.label).toBe("sum cat");
    expect(neighbourOf(reply, "w_q:0,*")).toBeNull();
    expect(neighbourOf(reply, "weights:9,0")).toBeNull();
  });
});

describe("planes and heads", () => {
  it("hold every point, with equal scales and whole steps", () => {
    const frame = planeFrame(
      [
        [0, 3],
        [2, 0],
        [-1, 1],
      ],
      320,
      270,
    );
    for (const [x, y] of [
      [0, 3],
      [2, 0],
      [-1, 1],
    ] as const) {
      expect(frame.x(x)).toBeGreaterThan(0);
      expect(frame.x(x)).toBeLessThan(320);
      expect(frame.y(y)).toBeGreaterThan(0);
      expect(frame.y(y)).toBeLessThan(270);
    }
    expect(frame.x(1) - frame.x(0)).toBeCloseTo(frame.y(0) - frame.y(1));
    expect(frame.invert(frame.x(1.5), frame.y(-0.5))).toEqual([expect.closeTo(1.5), expect.closeTo(-0.5)]);
  });

  it("add arrows tip to tail, as far as time has come", () => {
    const props = { title: "", vectors: [], width: 320, height: 270 };
    const frame = planeFrame([[2, 2]], 320, 270);
    const arrows = (drawn: number) =>
      planeMarks(
        {
          ...props,
          path: {
            points: [
              [1, 0],
              [1, 2],
            ],
            drawn,
            labels: ["a", "b"],
          },
        },
        frame,
      ).filter((mark) => mark.kind === "line" && mark.arrow);
    expect([0, 0.5, 1, 1.5, 2].map((drawn) => arrows(drawn).length)).toEqual([0, 1, 1, 2, 2]);
    expect(arrows(1.5)[1]).toMatchObject({
      points: [
        [frame.x(1), frame.y(0)],
        [frame.x(1), frame.y(1)],
      ],
    });
  });

  it("go round at the ends", () => {
    expect(headBeside({ layer: 0, head: 0 }, 2, 4, { head: -1 })).toEqual({ layer: 0, head: 3 });
    expect(headBeside({ layer: 1, head: 2 }, 2, 4, { layer: 1 })).toEqual({ layer: 0, head: 2 });
  });

  it("start and end where they should in time", () => {
    expect([0, 0.5, 1].map(eased)).toEqual([0, 0.5, 1]);
  });
});
