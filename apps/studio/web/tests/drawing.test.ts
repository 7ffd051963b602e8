import { describe, expect, it } from "vitest";
import { colourAt, coloured, colourOf, contrast, textColourOn } from "../src/drawing/colour";
import { hatch, moved, type Drawing } from "../src/drawing/marks";
import { beginsNumber, decimalsIn, nudged, numberProblem, plainNumber, shown, typedNumber } from "../src/drawing/numbers";
import { palettes } from "../src/drawing/palette";
import { svgFile } from "../src/drawing/svg";
import { hullOf, type Point } from "../src/parts/hull";

describe("numbers in cells", () => {
  it.each([
    [0.401_12, 3, "0.401"],
    [-3.1, 2, "−3.10"],
    [0, 3, "0"],
    [-0, 3, "0"],
    [0.0004, 3, "≈0"],
    [-0.0004, 3, "≈0"],
    [0.0005, 3, "0.001"],
    [2, 0, "2"],
    [1e9, 3, "1.0 × 10⁹"],
    [-2.5e12, 3, "−2.5 × 10¹²"],
    [999_999_999, 0, "999999999"],
    [Infinity, 3, "∞"],
    [-Infinity, 3, "−∞"],
    [NaN, 3, "NaN"],
  ])("%d with %i decimals: %s", (value, decimals, text) => {
    expect(shown(value, decimals)).toBe(text);
  });

  it("never have an exponent of the machine's", () => {
    for (let power = -320; power < 308; ++power) expect(shown(1.5 * 10 ** power, 3)).not.toMatch(/e/i);
  });

  it("have as many decimals as the cell has room for", () => {
    expect([44, 28, 14, 2].map((size) => decimalsIn(size, 4))).toEqual([3, 2, null, null]);
    expect(decimalsIn(60, 0)).toBe(0);
  });

  it.each([
    ["0.5", 0.5],
    [" −1 ", -1],
    ["0,5", 0.5],
    [".5", 0.5],
    ["1e-3", 0.001],
    ["", null],
    ["-", null],
    ["1.2.3", null],
    ["Infinity", null],
    ["1e999", null],
    ["0x10", null],
  ])("typed as %j are %j", (text, value) => {
    expect(typedNumber(text)).toBe(value);
  });

  it("say what was expected where there is none", () => {
    expect(numberProblem("−0,5")).toBeNull();
    expect(numberProblem("1/2")).toBe("Expected a number, such as 0.5 or −2, but got “1/2”.");
    expect(numberProblem(" ")).toContain("got nothing");
    expect(["", "-", ".", "2e", "1e-"].every(beginsNumber)).toBe(true);
    expect(["x", "1/", "--", "1e400"].some(beginsNumber)).toBe(false);
  });

  it("move by tenths without dust", () => {
    expect(plainNumber(nudged(0.2, 0.1))).toBe("0.3");
    expect(plainNumber(nudged(0.1, -0.1))).toBe("0");
  });
});

describe("colours", () => {
  it("start and end at the knots of the maps", () => {
    expect(colourAt("sequential", 0, "dark")).toBe("#15171d");
    expect(colourAt("sequential", 255, "dark")).toBe("#f1fac0");
    expect(colourAt("sequential", -3, "light")).toBe(colourAt("sequential", 0, "light"));
    expect(colourOf("sequential", NaN, "light")).toBe(colourAt("sequential", 0, "light"));
  });

  it("always leave text that can be read", () => {
    for (const ground of ["light", "dark"] as const) {
      for (const map of ["sequential", "diverging"] as const) {
        for (let index = 0; index < 256; ++index) {
          const colour = colourAt(map, index, ground);
          expect(contrast(textColourOn(colour), colour)).toBeGreaterThanOrEqual(4.5);
        }
      }
    }
  });

  it("put zero in the middle of a signed scale, and an empty scale too", () => {
    const scale = { map: "diverging", least: -2, most: 2 } as const;
    expect(coloured(scale, 0, "light")).toBe(colourAt("diverging", 128, "light"));
    expect(coloured({ ...scale, least: 0, most: 0 }, 0, "light")).toBe(colourAt("diverging", 128, "light"));
  });

  it("of names can be read on both grounds", () => {
    for (const palette of Object.values(palettes)) {
      for (const paint of ["ink", "soft", "q", "k", "v", "accent"] as const) {
        for (const ground of ["paper", "ground"] as const) {
          expect(contrast(palette[paint], palette[ground])).toBeGreaterThanOrEqual(4.5);
        }
      }
    }
  });
});

describe("drawings", () => {
  const drawing: Drawing = {
    width: 100,
    height: 50,
    title: 'a < b & "c"',
    marks: [
      { kind: "box", x: 1, y: 2, width: 3, height: 4, fill: "q", name: "q:0,0" },
      {
        kind: "line",
        points: [
          [0, 0],
          [10, 0],
        ],
        stroke: "ink",
        arrow: true,
      },
      { kind: "label", x: 5, y: 5, text: "</text><script>alert(1)</script>" },
    ],
  };

  it("are written as SVG whose texts are only texts", () => {
    const svg = svgFile(drawing, palettes.light);
    expect(svg).toContain("<title>a &lt; b &amp; &quot;c&quot;</title>");
    expect(svg).not.toContain("<script");
    expect(svg).toContain('fill="#6f42c1"');
    expect(svg).not.toContain("data-name");
    expect(svg).not.toContain("var(");
  });

  it("move as a whole", () => {
    expect(moved(drawing.marks, 10, 20)).toMatchObject([
      { x: 11, y: 22 },
      {
        points: [
          [10, 20],
          [20, 20],
        ],
      },
      { x: 15, y: 25 },
    ]);
  });

  it("hatch inside the box only", () => {
    for (const mark of hatch(10, 20, 30, 12)) {
      if (mark.kind !== "line") throw new Error("a hatch is made of lines");
      for (const [x, y] of mark.points) {
        expect(x).toBeGreaterThanOrEqual(10);
        expect(x).toBeLessThanOrEqual(40);
        expect(y).toBeGreaterThanOrEqual(20);
        expect(y).toBeLessThanOrEqual(32);
      }
    }
  });

  it("shade the hull of points and nothing inside it", () => {
    const square: Point[] = [
      [0, 0],
      [2, 0],
      [2, 2],
      [0, 2],
      [1, 1],
      [1, 0],
    ];
    expect(hullOf(square)).toHaveLength(4);
    expect(hullOf(square)).not.toContainEqual([1, 1]);
    expect(
      hullOf([
        [1, 1],
        [0, 0],
      ]),
    ).toHaveLength(2);
  });
});
