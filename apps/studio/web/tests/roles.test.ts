import { signal } from "@preact/signals";
import { describe, expect, it } from "vitest";
import { Engine, type Transport } from "../src/engine/engine";
import { frameBytes, frameKind } from "../src/engine/frames";
import type { AnalyzeRequest, RolesHead } from "../src/engine/messages";
import { parsedHead } from "../src/pages/heads/state";
import {
  changesIn,
  cutsOf,
  inWords,
  isRemoved,
  parsedChange,
  patternOf,
  toggled,
  withoutPlaces,
  written,
  changeText,
} from "../src/pages/roles/changes";
import { columnsOf, csvOf, orderAfter, orderOf, sorted } from "../src/pages/roles/columns";
import { headAfter, layerAfter, telling } from "../src/pages/roles/desk";
import { examples } from "../src/pages/roles/examples";
import { headsAsked } from "../src/pages/roles/heads_asked";
import { layerPicture, summary } from "../src/pages/roles/layer_marks";
import { barsOf } from "../src/pages/roles/places_bars";
import {
  analyzeRequest,
  changedHeadRequest,
  changeRequest,
  commandOf,
  headResultName,
  inputsOf,
  stateName,
  withNewText,
} from "../src/pages/roles/state";

function head(layer: number, at: number, more: Partial<RolesHead> = {}): RolesHead {
  return {
    site: "tokens",
    layer,
    head: at,
    word: "mixed",
    evidence: "at most 0.40 on itself",
    rows: 10,
    entropy: 1,
    evenness: 0.5,
    distance: 2,
    shares: [0.4, 0],
    even: [0.2, 0],
    share_rows: [10, 0],
    induction: null,
    duplicate: null,
    similarity: null,
    removal: 0.1,
    gradient: null,
    nearest: null,
    nearest_distance: 0,
    ...more,
  };
}

const patterns = [
  { word: "previous", name: "previous token" },
  { word: "place", name: "same place" },
];
const words = { queries: ["a", "b", "c"], keys: ["a", "b", "c"] };

describe("changes", () => {
  const all =
    "remove 1.0; pattern cross:2.3=uniform; cut 1.0=7:2; cut 5:1; " +
    "patch blocks.1@5; patch blocks.0.attn.heads.3; freeze norms";

  it("reads and writes every form alike", () => {
    const texts = changesIn(all);
    expect(texts).toHaveLength(7);
    expect(texts.map((text) => changeText(parsedChange(text)!))).toEqual(texts);
    expect(written(texts)).toBe(all);
  });

  it("leaves what it cannot read to the engine", () => {
    for (const text of ["remoove 1.0", "cut 1.0=7", "pattern 1.0", "freeze", ""]) expect(parsedChange(text)).toBeNull();
    expect(inWords("remoove 1.0", words)).toBe("remoove 1.0");
  });

  it("adds a change and takes it back", () => {
    const cut = { kind: "cut", head: "1.0", query: 7, key: 2 } as const;
    const with_ = toggled(["remove 0.0"], cut);
    expect(with_).toEqual(["remove 0.0", "cut 1.0=7:2"]);
    expect(toggled(with_, cut)).toEqual(["remove 0.0"]);
  });

  it("keeps one pattern a head", () => {
    const now = toggled(["pattern 1.0=self", "pattern 1.1=self"], { kind: "pattern", head: "1.0", as: "uniform" });
    expect(now).toEqual(["pattern 1.1=self", "pattern 1.0=uniform"]);
    expect(patternOf(now, "1.0")).toBe("uniform");
    expect(patternOf(now, "1.2")).toBeNull();
  });

  it("drops places with their text", () => {
    expect(withoutPlaces([...changesIn(all), "pattern 0.0=3", "pattern 0.1=text"])).toEqual([
      "remove 1.0",
      "pattern cross:2.3=uniform",
      "freeze norms",
    ]);
  });

  it("finds the edges of a head, its own and those of all heads", () => {
    const changes = ["cut 1.0=7:2", "cut 5:1", "cut 1.*=3:0", "cut 0.0=6:6"];
    expect(cutsOf(changes, "1.0").map(({ query, key, everywhere }) => [query, key, everywhere])).toEqual([
      [7, 2, false],
      [5, 1, true],
      [3, 0, true],
    ]);
    expect(cutsOf(changes, "cross:1.0")).toEqual([]);
  });

  it("knows a removed head by a star", () => {
    expect(isRemoved(["remove cross:1.*"], "cross:1.3")).toBe(true);
    expect(isRemoved(["remove cross:1.*"], "1.3")).toBe(false);
    expect(isRemoved(["remove 1.1"], "1.10")).toBe(false);
  });

  it("says them in words", () => {
    expect(inWords("remove 1.0", words)).toBe("head 1.0 removed");
    expect(inWords("remove cross:1.*", words)).toBe("all cross heads of layer 1 removed");
    expect(inWords("remove *.*", words)).toBe("all heads removed");
    expect(inWords("pattern 2.3=uniform", words)).toBe("head 2.3 reads all keys evenly");
    expect(inWords("pattern 2.3=1", words)).toBe("head 2.3 reads only b₁");
    expect(inWords("cut 1.0=2:0", words)).toBe("c₂ no longer sees a₀, head 1.0");
    expect(inWords("cut 12:0", words)).toBe("12 no longer sees a₀, in every head");
    expect(inWords("patch blocks.1@2", words)).toBe("what layer 1 gave at c₂ from the other text");
    expect(inWords("freeze norms", words)).toBe("norms frozen");
  });
});

describe("the table", () => {
  const heads = [
    head(0, 0, { removal: 0.2 }),
    head(0, 1, { removal: null }),
    head(1, 0, { removal: 3, word: "induction", induction: 0.99 }),
  ];

  it("has the columns that say something", () => {
    const ids = columnsOf({ heads, patterns }).map((column) => column.id);
    expect(ids).toEqual(["removal", "induction", "entropy", "evenness", "distance", "share-previous"]);
    const silent = heads.map((one) => ({ ...one, removal: null }));
    expect(columnsOf({ heads: silent, patterns }).map((column) => column.id)).not.toContain("removal");
    expect(columnsOf({ heads: silent, patterns }, true).map((column) => column.id)).toContain("removal");
  });

  it("sorts numbers from the largest down, and what has none last", () => {
    const columns = columnsOf({ heads, patterns });
    const order = (text?: string) => sorted(heads, columns, orderOf(text)).map((one) => `${one.layer}.${one.head}`);
    expect(order("removal")).toEqual(["1.0", "0.0", "0.1"]);
    expect(order("-removal")).toEqual(["0.0", "1.0", "0.1"]);
    expect(order()).toEqual(["0.0", "0.1", "1.0"]);
    expect(order("-head")).toEqual(["1.0", "0.1", "0.0"]);
    expect(order("class")).toEqual(["1.0", "0.0", "0.1"]);
    expect(order("nothing")).toEqual(["0.0", "0.1", "1.0"]);
  });

  it("turns the order at a second click, and leaves the one without a choice out of the address", () => {
    expect(orderAfter(orderOf(undefined), "removal")).toBe("removal");
    expect(orderAfter(orderOf("removal"), "removal")).toBe("-removal");
    expect(orderAfter(orderOf("-removal"), "removal")).toBe("removal");
    expect(orderAfter(orderOf("removal"), "head")).toBeNull();
    expect(orderAfter(orderOf("-head"), "head")).toBeNull();
  });

  it("is written with all digits", () => {
    const lines = csvOf({ heads: [head(0, 0, { entropy: 1 / 3, evidence: 'a, "b"' })], patterns }).split("\n");
    expect(lines[0]).toBe("site,layer,head,class,evidence,removal,entropy,evenness,distance,share-previous");
    expect(lines[1]).toBe('tokens,0,0,mixed,"a, ""b""",0.1,0.3333333333333333,0.5,2,0.4');
  });

  it("chooses a head that says something", () => {
    expect(telling(heads)).toEqual({ site: "tokens", layer: 1, head: 0 });
    expect(
      telling([head(0, 0), head(0, 1, { word: "previous", evenness: 0.1 }), head(0, 2, { word: "self" })])?.head,
    ).toBe(1);
    expect(telling([])).toBeNull();
  });

  it("goes from head to head and layer to layer", () => {
    const now = { site: "tokens", layer: 0, head: 1 };
    expect(headAfter(heads, now, 1)).toEqual({ site: "tokens", layer: 1, head: 0 });
    expect(headAfter(heads, { site: "tokens", layer: 1, head: 0 }, 1)).toEqual({ site: "tokens", layer: 0, head: 0 });
    expect(layerAfter(heads, now, 1)).toEqual({ site: "tokens", layer: 1, head: 0 });
    expect(layerAfter(heads, now, -1)).toEqual({ site: "tokens", layer: 1, head: 0 });
    expect(headAfter([], now, 1)).toBeNull();
  });
});

describe("the address", () => {
  const tried = (text: string, example: number | null) => ({
    text,
    example,
    site: "tokens",
    layer: 0,
    head: 0,
    query: 0,
    key: 0,
    look: "",
  });
  const models = [
    { name: "shapes", task: "Say", examples: [tried("", 0)] },
    { name: "induction", task: "Say", examples: [tried("abcxyzab", null)] },
  ];
  const about = { model: "", text: "", models } as unknown as NonNullable<Parameters<typeof inputsOf>[1]>;

  it("opens with an example, or with what the command named", () => {
    expect(inputsOf({}, about)).toEqual({ model: "induction", text: "abcxyzab" });
    expect(inputsOf({ model: "shapes" }, about)).toEqual({ model: "shapes", example: 0 });
    expect(inputsOf({ model: "shapes", example: "4" }, about)).toEqual({ model: "shapes", example: 4 });
    expect(inputsOf({}, { ...about, model: "gpt", text: "Mine" })).toEqual({ model: "gpt", text: "Mine" });
    expect(inputsOf({ model: "induction" }, { ...about, model: "gpt", text: "Mine" }).text).toBe("abcxyzab");
    expect(inputsOf({ text: "x", example: "4" }, about)).toEqual({ model: "induction", text: "x" });
    expect(inputsOf({}, null)).toEqual({ model: "induction", text: "abcxyzab" });
  });

  it("asks for no more than it says", () => {
    const inputs = { model: "induction", text: "abcxyzab" };
    expect(changeRequest(inputs, { changes: " remove 1.0;; cut 1:0 ", token: "", query: "3" })).toEqual({
      ...inputs,
      changes: ["remove 1.0", "cut 1:0"],
      query: "3",
    });
    expect(changeRequest(inputs, {})).toEqual({ ...inputs, untouched: true });
    expect(analyzeRequest(inputs, {})).toEqual({ model: "induction", count: 16, importance: 8 });
    const texts = { model: "induction", texts: ["a", "b"], importance: 8 };
    expect(analyzeRequest(inputs, { texts: "a\n\nb" })).toEqual(texts);
  });

  it("keeps changes that hold for another text", () => {
    const inputs = { model: "induction", text: "abcxyzab" };
    const fields = { changes: "remove 1.0; cut 1.0=7:2", query: "7", texts: "ab" };
    const read = withNewText(inputs, fields, { model: "induction", text: "abab", example: null });
    expect(read).toEqual({
      model: "induction",
      text: "abab",
      example: null,
      query: null,
      token: null,
      from_text: null,
      changes: "remove 1.0",
    });
    expect(withNewText(inputs, fields, { model: "gpt", text: null })).toMatchObject({
      model: "gpt",
      texts: null,
      changes: null,
      query: null,
    });
  });

  it("names heads and values", () => {
    expect(parsedHead("cross.1.12")).toEqual({ site: "cross", layer: 1, head: 12 });
    for (const text of [undefined, "", "1.0", "tokens.1", "tokens.a.0", "<b>.1.0"]) expect(parsedHead(text)).toBeNull();
    const at = (site: string) => ({ site, layer: 2, head: 3 });
    expect(headResultName(at("tokens"), false)).toBe("blocks.2.attn.heads.3");
    expect(headResultName(at("cross"), true)).toBe("decoder.blocks.2.cross.heads.3");
    expect(stateName(at("source"), 0, true)).toBe("encoder.blocks.0");
  });

  it("writes the command that prints the same", () => {
    const inputs = { model: "english", text: "the nun's <be>" };
    expect(commandOf(inputs, {})).toBe("qkv analyze english --count 16 --importance 8");
    expect(commandOf(inputs, { texts: "the nun\na cat" })).toBe(
      "qkv analyze english --line 'the nun' --line 'a cat' --importance 8",
    );
    expect(commandOf(inputs, { changes: "cut 5:1; freeze norms; pattern 1.*=uniform", query: "2" })).toBe(
      "qkv change english 'the nun'\\''s <be>' --cut 5:1 --freeze-norms --pattern '1.*=uniform' --query 2",
    );
    expect(commandOf({ model: "shapes", example: 3 }, { changes: "remove cross:1.0" })).toBe(
      "qkv change shapes --example 3 --remove cross:1.0",
    );
  });

  it("tries only what it can read", () => {
    for (const { fields } of examples) {
      expect(parsedHead(fields["head"])).not.toBeNull();
      for (const change of changesIn(fields["changes"])) expect(parsedChange(change)).not.toBeNull();
    }
  });
});

describe("the map of a head in a changed model", () => {
  const at = { site: "tokens", layer: 1, head: 0 };
  it("is asked for once something is changed, with the other text", () => {
    expect(changedHeadRequest({ model: "gpt", text: "a" }, {}, at)).toBeNull();
    const changed = (changes: string) => changedHeadRequest({ model: "gpt", text: "a" }, { changes, from_text: "b" }, at);
    for (const changes of ["remove 0.0; patch blocks.0", "pattern 1.0=text"]) {
      expect(changed(changes)).toEqual({ model: "gpt", text: "a", ...at, changes, from_text: "b" });
    }
    expect(changed("remove 0.0; pattern 1.0=uniform")).not.toHaveProperty("from_text");
  });
});

describe("a number of a head that is set", () => {
  const text = "set 1.0=k:2,5:-0.7";
  it("is read, written and said", () => {
    expect(changeText(parsedChange(text)!)).toBe(text);
    expect(inWords(text, { queries: ["a", "b", "c"], keys: ["a", "b", "c"] })).toBe("number 6 of k of c₂ of head 1.0 is −0.7");
    expect(withoutPlaces([text, "remove 1.0"])).toEqual(["remove 1.0"]);
    expect(commandOf({ model: "gpt", text: "a" }, { changes: text })).toBe("qkv change gpt a --set '1.0=k:2,5:-0.7'");
  });
});

describe("pictures", () => {
  it("shows each head once, site by site", () => {
    const heads = [head(0, 0), head(1, 0, { word: "induction" }), head(0, 0, { site: "cross" })];
    const picture = layerPicture(heads, { site: "cross", layer: 0, head: 0 }, 290, "light");
    expect(picture.cells).toHaveLength(3);
    expect(picture.marks.filter((mark) => mark.kind === "box" && mark.name).map((mark) => mark.name)).toEqual([
      "role-tokens.0.0",
      "role-tokens.1.0",
      "role-cross.0.0",
    ]);
    expect(picture.cells[2]!.y).toBeGreaterThan(picture.cells[1]!.y);
    expect(summary(heads)).toBe("3 heads: 2 mixed, 1 induction");
  });

  it("makes bars of what the engine measured", () => {
    expect(barsOf({ divergence: [0, 2, 1], state_cosines: [] })?.heights).toEqual([0, 1, 0.5]);
    expect(barsOf({ divergence: [0, 0.001], state_cosines: [] })?.heights[1]).toBeCloseTo(0.1);
    expect(barsOf({ divergence: [], state_cosines: [0.5, -1] })?.heights).toEqual([0.5, 0]);
    expect(barsOf({ divergence: [], state_cosines: [] })).toBeNull();
  });
});

describe("heads asked in two goes", () => {
  const encode = (json: unknown) => new TextEncoder().encode(JSON.stringify(json));
  const settled = () => new Promise((resume) => setTimeout(resume, 0));

  function transport() {
    const asked: AnalyzeRequest[] = [];
    const waiting: (() => void)[] = [];
    const made: Transport = {
      where: "a test",
      answers: () => true,
      async *send(_name, body, signal) {
        const request = JSON.parse(body) as AnalyzeRequest;
        asked.push(request);
        await new Promise<void>((resume, reject) => {
          waiting.push(resume);
          signal.addEventListener("abort", () => reject(new DOMException("gone", "AbortError")));
        });
        yield frameBytes(
          frameKind.reply,
          encode({ title: request.model, heads: [], loss: request.importance === 0 ? null : 1 }),
        );
        yield frameBytes(frameKind.block, new Uint8Array());
      },
    };
    return { asked, answer: async () => (waiting.shift()?.(), await settled(), await settled()), made };
  }

  it("shows patterns before removal is known", async () => {
    const { asked, answer, made } = transport();
    const heads = headsAsked(new Engine(made), signal<AnalyzeRequest | null>({ model: "gpt" }));
    await answer();
    expect(heads.reply.value?.loss).toBeNull();
    expect(heads.isPending.value).toBe(true);
    await answer();
    expect(heads.reply.value?.loss).toBe(1);
    expect(heads.isPending.value).toBe(false);
    expect(asked).toEqual([{ model: "gpt", importance: 0 }, { model: "gpt" }]);
    heads.close();
  });

  it("stops, keeps what is known, goes on, and forgets the stop with another model", async () => {
    const { asked, answer, made } = transport();
    const wanted = signal<AnalyzeRequest | null>({ model: "gpt" });
    const heads = headsAsked(new Engine(made), wanted);
    await answer();
    heads.halt();
    await settled();
    expect([heads.isStopped.value, heads.isPending.value, heads.reply.value?.title]).toEqual([true, false, "gpt"]);
    heads.goOn();
    await settled();
    expect(asked).toHaveLength(3);
    heads.halt();
    wanted.value = { model: "induction" };
    await settled();
    expect(heads.isStopped.value).toBe(false);
    expect(heads.isCurrent.value).toBe(false);
    expect(asked.at(-1)).toEqual({ model: "induction", importance: 0 });
    heads.close();
  });
});
