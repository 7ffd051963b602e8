import { describe, expect, it } from "vitest";
import { lineChart, type Chart } from "../src/drawing/line_chart";
import type { Line, Mark } from "../src/drawing/marks";

const chart: Chart = {
  title: "loss over steps",
  width: 400,
  height: 200,
  x: { name: "step" },
  y: { name: "loss" },
  lines: [{ name: "loss", x: [0, 10, 20], y: [4, 2, 1], paint: "accent" }],
};

function curve(marks: readonly Mark[]): Line | undefined {
  return marks.find((mark): mark is Line => mark.kind === "line" && mark.stroke === "accent" && mark.thick === 2);
}

describe("lineChart", () => {
  it("puts larger numbers higher and later ones further right", () => {
    const points = curve(lineChart(chart).marks)!.points;
    expect(points).toHaveLength(3);
    expect(points[0]![0]).toBeLessThan(points[2]![0]);
    expect(points[0]![1]).toBeLessThan(points[2]![1]);
  });

  it("leaves a gap where a number is none, and a dot where one stands alone", () => {
    const marks = lineChart({ ...chart, lines: [{ ...chart.lines[0]!, y: [4, NaN, 1] }] }).marks;
    expect(curve(marks)).toBeUndefined();
    expect(marks.filter((mark) => mark.kind === "disc")).toHaveLength(2);
  });

  it("writes powers of ten on a logarithmic axis, of two where there is less than one decade", () => {
    const texts = (most: number) =>
      lineChart({ ...chart, x: { name: "T", logarithmic: true }, lines: [{ ...chart.lines[0]!, x: [128, most, most], y: [1, 2, 3] }] })
        .marks.filter((mark) => mark.kind === "label")
        .map((mark) => mark.text);
    expect(texts(131072)).toEqual(expect.arrayContaining(["1000", "10 k", "100 k"]));
    expect(texts(600)).toEqual(expect.arrayContaining(["128", "256", "512"]));
  });

  it("leaves out what has no logarithm", () => {
    const marks = lineChart({ ...chart, y: { name: "loss", logarithmic: true }, lines: [{ ...chart.lines[0]!, y: [0, 2, 1] }] }).marks;
    expect(curve(marks)!.points).toHaveLength(2);
  });

  it("finds the place under the pointer, and stays within the axis", () => {
    const placed = lineChart(chart);
    const [first, , last] = curve(placed.marks)!.points;
    expect(placed.valueAt(first![0])).toBeCloseTo(0);
    expect(placed.valueAt(last![0])).toBeCloseTo(20);
    expect(placed.valueAt(-100)).toBeCloseTo(0);
    expect(placed.valueAt(1e6)).toBeCloseTo(20);
  });

  it("draws an empty chart without points", () => {
    expect(lineChart({ ...chart, lines: [] }).marks.length).toBeGreaterThan(0);
  });

  it("jumps where a line has steps", () => {
    const marks = lineChart({ ...chart, lines: [{ ...chart.lines[0]!, steps: true }] }).marks;
    const { points } = curve(marks)!;
    expect(points).toHaveLength(5);
    expect(points[1]).toEqual([points[2]![0], points[0]![1]]);
  });

  it("names lines at their ends, apart from each other, and makes room for the names", () => {
    const twins = [chart.lines[0]!, { ...chart.lines[0]!, name: "accuracy", paint: "v" as const }];
    const placed = lineChart({ ...chart, lines: twins, names: "ends" });
    const named = placed.marks.filter((mark) => mark.kind === "label" && ["loss", "accuracy"].includes(mark.text) && mark.anchor === undefined);
    const [first, second] = named.map((mark) => (mark.kind === "label" ? mark.y : NaN));
    expect(Math.abs(first! - second!)).toBeGreaterThanOrEqual(16);
    expect(curve(placed.marks)!.points.at(-1)![0]).toBeLessThan(curve(lineChart(chart).marks)!.points.at(-1)![0]);
    expect(lineChart({ ...chart, lines: twins, names: "letters" }).marks.some((mark) => mark.kind === "label" && mark.text === "b")).toBe(true);
  });

  it("puts dots on the lines at the place that is looked at", () => {
    const discs = (x: number) => lineChart({ ...chart, at: { x, name: "", dots: true } }).marks.filter((mark) => mark.kind === "disc");
    expect(discs(10)).toHaveLength(1);
    expect(discs(11)).toHaveLength(0);
  });
});
