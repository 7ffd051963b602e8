import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  address,
  change,
  fragmentOf,
  parsedFragment,
  plainFragment,
  withFields,
  type Address,
} from "../src/app/address";

const read = (text: string) => parsedFragment(text, "step");
const parse = async (text: string) => (await read(text)).address;

describe("addresses", () => {
  it("keep matrices readable", () => {
    const address = { page: "step", fields: { text: "the cat sat", Q: "1,0;0,1;1,1", pin: "weights:1,2" } };
    expect(plainFragment(address)).toBe("/step?text=the+cat+sat&Q=1,0;0,1;1,1&pin=weights:1,2");
  });

  it.each<Address>([
    { page: "step", fields: {} },
    { page: "patterns/mask", fields: { mask: "causal & window(512)" } },
    { page: "step", fields: { text: "1 + 1 = 2 & more % of # it?", context: "“ein Haus” 家 👍🏽" } },
    { page: "step", fields: { text: "<script>alert(1)</script>" } },
    { page: "step", fields: { Q: Array.from({ length: 900 }, (_, n) => `${n}.5`).join(",") } },
  ])("come back as they were written: $page", async (address) => {
    expect(await parse(await fragmentOf(address))).toEqual(address);
  });

  it("deflate what is long, and only that", async () => {
    const long = { page: "step", fields: { Q: "0.25,0.5;".repeat(400) } };
    const fragment = await fragmentOf(long);
    expect(fragment).toMatch(/^\/step\?z=[A-Za-z0-9_-]+$/);
    expect(fragment.length).toBeLessThan(200);
    expect(await fragmentOf({ page: "step", fields: { Q: "1,0" } })).toBe("/step?Q=1,0");
  });

  it("take away what cannot be read, and never throw", async () => {
    for (const cut of ["#/step?text=%E0%A4%A&q=1", "#/step?z=not-deflated"]) expect((await read(cut)).isWhole).toBe(false);
    for (const whole of ["", "#/step", "#/step?text=a&q=1"]) expect((await read(whole)).isWhole).toBe(true);
    expect(await parse("#/step?text=%E0%A4%A&q=1")).toEqual({ page: "step", fields: { q: "1" } });
    expect(await parse("#/../../etc/passwd")).toEqual({ page: "step", fields: {} });
    expect(await parse("#javascript:alert(1)")).toEqual({ page: "step", fields: {} });
    expect(await parse("#/step?z=not-deflated")).toEqual({ page: "step", fields: {} });
    expect(await parse("#/step?z=%00%ff")).toEqual({ page: "step", fields: {} });
    expect(await parse("#/step?=1&&a&b=&0=2")).toEqual({ page: "step", fields: { b: "" } });
  });

  it("leave the prototypes of objects alone", async () => {
    const { fields } = await parse("#/step?__proto__=1&constructor=2&a=3");
    expect(({} as Record<string, unknown>)["1"]).toBeUndefined();
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
    expect(fields["a"]).toBe("3");
  });

  it("do not inflate a bomb", async () => {
    const zeros = new Blob(["a=" + "0".repeat(20_000_000)]).stream().pipeThrough(new CompressionStream("deflate"));
    const bytes = new Uint8Array(await new Response(zeros).arrayBuffer());
    const z = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
      .replaceAll("+", "-")
      .replaceAll("/", "_");
    expect(await parse(`#/step?z=${z}`)).toEqual({ page: "step", fields: {} });
  });

  it("write half a character as a replacement", () => {
    expect(plainFragment({ page: "step", fields: { text: "a\ud800b" } })).toBe("/step?text=a%EF%BF%BDb");
  });

  it("drop fields that are set to nothing", () => {
    expect(withFields({ a: "1", b: "2" }, { a: null, c: "", d: "4" })).toEqual({ b: "2", d: "4" });
  });
});

describe("the history", () => {
  let entries: string[];
  beforeEach(() => {
    vi.useFakeTimers();
    entries = ["#/step"];
    address.value = { page: "step", fields: {} };
    vi.stubGlobal("history", {
      pushState: (_: unknown, __: string, url: string) => entries.push(url),
      replaceState: (_: unknown, __: string, url: string) => (entries[entries.length - 1] = url),
    });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  it("has one entry for a whole drag, so that Back undoes it", async () => {
    for (const value of ["1.1", "1.2", "1.3"]) change({ Q: value }, "drag");
    change({ Q: "1.4" }, "done");
    await vi.advanceTimersByTimeAsync(0); // written at once: the reader may go back at once
    expect(entries).toEqual(["#/step", "#/step?Q=1.4"]);
    change({ Q: "2" });
    await vi.runAllTimersAsync();
    expect(entries).toEqual(["#/step", "#/step?Q=1.4", "#/step?Q=2"]);
  });

  it("has none for a step, which the entry before an edit keeps", async () => {
    change({ step: "3" }, "quiet");
    change({ K: "4" });
    await vi.runAllTimersAsync();
    expect(entries).toEqual(["#/step?step=3", "#/step?step=3&K=4"]);
  });

  it("is written at once when a drag ends where it last was", async () => {
    for (const value of ["1.1", "1.2"]) change({ Q: value }, "drag");
    change({ Q: "1.2" }, "done");
    await vi.advanceTimersByTimeAsync(0);
    expect(entries).toEqual(["#/step", "#/step?Q=1.2"]);
  });

  it("has none for a change that changes nothing", async () => {
    change({ K: null });
    await vi.runAllTimersAsync();
    expect(entries).toEqual(["#/step"]);
  });
});
