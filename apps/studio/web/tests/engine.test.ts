import { describe, expect, it, vi } from "vitest";
import { canonical, Engine, type Transport } from "../src/engine/engine";
import { EngineError, EngineGone } from "../src/engine/errors";
import { FrameReader, frameBytes, frameKind } from "../src/engine/frames";
import { base85, fromBase85 } from "../src/engine/base85";
import { Frozen, frozenReplies, frozenText } from "../src/engine/frozen";
import { InHost, type Host } from "../src/engine/in_host";
import { InWorker } from "../src/engine/in_worker";
import { baseOf, OverHttp } from "../src/engine/over_http";
import { fromHalf, rowOf, sizeOf, valueAt, withTensors, type Tensor } from "../src/engine/tensor";

const utf8 = (json: unknown) => new TextEncoder().encode(JSON.stringify(json));
const joined = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));
const reply = (json: unknown, block = new Uint8Array()) =>
  joined(frameBytes(frameKind.reply, utf8(json)), frameBytes(frameKind.block, block));
const about = "about" as const;

class Fake implements Transport {
  readonly where = "a test";
  asked: string[] = [];
  constructor(private readonly bytes: Uint8Array) {}
  answers(): boolean {
    return true;
  }
  async *send(name: string, body: string): AsyncIterable<Uint8Array> {
    this.asked.push(`${name} ${body}`);
    for (let at = 0; at < this.bytes.length; at += 5) yield this.bytes.slice(at, at + 5);
  }
}

describe("frames", () => {
  const bytes = joined(frameBytes(1, utf8({ done: 1 })), frameBytes(2, utf8([1])), frameBytes(3, new Uint8Array()));

  it("are padded to multiples of 8", () => {
    expect(frameBytes(2, new Uint8Array(5)).length).toBe(16);
    expect([...frameBytes(3, Uint8Array.of(7)).slice(0, 9)]).toEqual([3, 0, 0, 0, 1, 0, 0, 0, 7]);
  });

  it.each([1, 3, 8, 1000])("are read from cuts of %i bytes", (cut) => {
    const reader = new FrameReader();
    const frames = [];
    for (let at = 0; at < bytes.length; at += cut) frames.push(...reader.push(bytes.slice(at, at + cut)));
    reader.end();
    expect(frames.map((frame) => [frame.kind, frame.payload.length])).toEqual([
      [1, 10],
      [2, 3],
      [3, 0],
    ]);
  });

  it("refuse other kinds, absurd lengths and a reply that breaks off", () => {
    expect(() => new FrameReader().push(Uint8Array.of(9, 0, 0, 0, 0, 0, 0, 0))).toThrow("kind 9");
    expect(() => new FrameReader().push(Uint8Array.of(2, 0, 0, 0, 255, 255, 255, 255))).toThrow("4294967295 bytes");
    const reader = new FrameReader();
    reader.push(bytes.slice(0, 12));
    expect(() => reader.end()).toThrow("12 bytes");
  });
});

describe("tensors", () => {
  it("are found anywhere in a reply", () => {
    const block = new Uint8Array(Float64Array.of(1.5, -2, 0, Infinity).buffer);
    const made = withTensors({ list: [{ m: { dtype: "f64", shape: [2, 2], at: 0 } }], n: null }, block) as {
      list: [{ m: Tensor }];
    };
    const { m } = made.list[0];
    expect(sizeOf(m)).toEqual({ rows: 2, columns: 2 });
    expect(rowOf(m, 1)).toEqual([0, Infinity]);
    expect(valueAt(m, 0, 1)).toBe(-2);
    expect(valueAt(m, 5, 0)).toBeNaN();
  });

  it("widen halves exactly", () => {
    expect([0x0000, 0x3c00, 0xc000, 0x3555, 0x0001, 0x7bff, 0x7c00].map(fromHalf)).toEqual([
      0,
      1,
      -2,
      0.333251953125,
      2 ** -24,
      65504,
      Infinity,
    ]);
    expect(fromHalf(0x7e00)).toBeNaN();
    const block = new Uint8Array(Uint16Array.of(0x3f80, 0xc040).buffer);
    const bf16 = withTensors({ dtype: "bf16", shape: [2], at: 0 }, block) as Tensor;
    expect([...bf16.values]).toEqual([1, -3]);
  });

  it.each([
    ["b8", [0, 1]],
    ["u8", [0, 1]],
  ] as const)("read %s", (dtype, values) => {
    const tensor = withTensors({ dtype, shape: [2], at: 0 }, Uint8Array.from(values)) as Tensor;
    expect([...tensor.values]).toEqual([...values]);
  });

  it("refuse to lie outside their block", () => {
    const outside = { dtype: "f32", shape: [3], at: 8 };
    expect(() => withTensors(outside, new Uint8Array(16))).toThrow("f32 [3] at byte 8");
    expect(() => withTensors({ ...outside, shape: [-1], at: 0 }, new Uint8Array(16))).toThrow("outside");
  });
});

describe("the engine", () => {
  it("writes equal requests equally", () => {
    expect(canonical("bench", { v: "1", q: "2", mask: undefined })).toBe('bench {"q":"2","v":"1"}');
  });

  it("asks once for equal requests", async () => {
    const transport = new Fake(reply({ version: "1" }));
    const engine = new Engine(transport);
    const first = await engine.ask(about, {});
    expect(await engine.ask(about, {})).toBe(first);
    expect(transport.asked).toEqual(["about {}"]);
  });

  it("reports progress before the reply", async () => {
    const seen: number[] = [];
    const bytes = joined(frameBytes(1, utf8({ what: "map", done: 3, total: 9 })), reply({ version: "1" }));
    await new Engine(new Fake(bytes)).ask(about, {}, { progress: ({ done }) => seen.push(done) });
    expect(seen).toEqual([3]);
  });

  it("throws what the engine refuses, with its field and column", async () => {
    const bytes = frameBytes(frameKind.error, utf8({ message: "no mask windw", field: "mask", column: 10 }));
    const error = await new Engine(new Fake(bytes)).ask(about, {}).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EngineError);
    expect(error).toMatchObject({ message: "no mask windw", field: "mask", column: 10 });
  });

  it("does not take half a reply", async () => {
    await expect(new Engine(new Fake(reply({ a: 1 }).slice(0, 12))).ask(about, {})).rejects.toThrow("inside a frame");
    await expect(new Engine(new Fake(new Uint8Array())).ask(about, {})).rejects.toThrow("no frame of kind 2");
  });
});

describe("over HTTP", () => {
  const signal = new AbortController().signal;
  const collect = async (stream: AsyncIterable<Uint8Array>) => {
    let count = 0;
    for await (const chunk of stream) count += chunk.length;
    return count;
  };

  it("the address of the page holds the token", () => {
    expect(baseOf("http://127.0.0.1:8080/TOKEN/#/step?a=1")).toBe("http://127.0.0.1:8080/TOKEN/");
    expect(baseOf("http://127.0.0.1:8080/TOKEN/index.html?x=/y#/z")).toBe("http://127.0.0.1:8080/TOKEN/");
  });

  it("posts to ask/NAME, and asks a busy server again", async () => {
    const answers = [new Response(null, { status: 429 }), new Response(Uint8Array.of(1, 2, 3))];
    const fetched = vi.fn<typeof fetch>(async () => answers.shift()!);
    vi.stubGlobal("fetch", fetched);
    expect(await collect(new OverHttp("http://h/T/").send("bench", "{}", signal))).toBe(3);
    expect(fetched.mock.calls.map(([url]) => url)).toEqual(["http://h/T/ask/bench", "http://h/T/ask/bench"]);
    expect(fetched.mock.calls[0]![1]).toMatchObject({ method: "POST", body: "{}" });
    vi.unstubAllGlobals();
  });

  it("says what to do when nobody answers or the token is old", async () => {
    vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("Failed to fetch")));
    const gone = collect(new OverHttp("http://h/T/").send("bench", "{}", signal));
    await expect(gone).rejects.toThrow(EngineGone);
    await expect(gone).rejects.toThrow("Run `qkv view` again");
    vi.stubGlobal("fetch", async () => new Response(null, { status: 403 }));
    await expect(collect(new OverHttp("http://h/T/").send("bench", "{}", signal))).rejects.toThrow("printed last");
    vi.unstubAllGlobals();
  });
});

describe("in a Worker", () => {
  class FakeWorker {
    posted: { id: number; name?: string; body?: string; cancel?: true }[] = [];
    private listeners: Record<string, ((event: never) => void)[]> = {};
    postMessage(message: unknown) {
      this.posted.push(message as { id: number });
    }
    addEventListener(type: string, listener: (event: never) => void) {
      (this.listeners[type] ??= []).push(listener);
    }
    terminated = false;
    terminate() {
      this.terminated = true;
    }
    emit(type: string, event: unknown) {
      for (const listener of this.listeners[type] ?? []) listener(event as never);
    }
  }

  it("sends each question its own bytes", async () => {
    const worker = new FakeWorker();
    const engine = new Engine(new InWorker(() => worker));
    const first = engine.ask(about, {});
    const second = engine.ask("bench", {});
    await Promise.resolve();
    expect(worker.posted).toEqual([
      { id: 1, name: "about", body: "{}" },
      { id: 2, name: "bench", body: "{}" },
    ]);
    worker.emit("message", { data: { id: 2, bytes: reply({ title: "b" }) } });
    worker.emit("message", { data: { id: 1, bytes: reply({ version: "a" }) } });
    worker.emit("message", { data: { id: 2, done: true } });
    worker.emit("message", { data: { id: 1, done: true } });
    expect(await first).toEqual({ version: "a" });
    expect(await second).toEqual({ title: "b" });
  });

  it("tells the Worker when nobody waits any more", async () => {
    const worker = new FakeWorker();
    const abort = new AbortController();
    const asked = new Engine(new InWorker(() => worker)).ask(about, {}, { signal: abort.signal });
    await Promise.resolve();
    abort.abort();
    await expect(asked).rejects.toMatchObject({ name: "AbortError" });
    expect(worker.posted.at(-1)).toEqual({ id: 1, cancel: true });
  });

  it("starts another Worker where one works on for nobody, and asks it what is waited for", async () => {
    vi.useFakeTimers();
    const workers: FakeWorker[] = [];
    const start = () => workers[workers.push(new FakeWorker()) - 1]!;
    const engine = new Engine(new InWorker(start));
    const abort = new AbortController();
    const long = engine.ask(about, {}, { signal: abort.signal });
    const next = engine.ask("bench", {});
    await Promise.resolve();
    abort.abort();
    await expect(long).rejects.toMatchObject({ name: "AbortError" });
    vi.runAllTimers();
    vi.useRealTimers();
    expect(workers[0]!.terminated).toBe(true);
    expect(workers[1]!.posted).toEqual([{ id: 2, name: "bench", body: "{}" }]);
    workers[1]!.emit("message", { data: { id: 2, bytes: reply({ title: "b" }) } });
    workers[1]!.emit("message", { data: { id: 2, done: true } });
    expect(await next).toEqual({ title: "b" });
  });

  it("gives the next Worker the engine that the first has compiled", async () => {
    vi.useFakeTimers();
    const given: (WebAssembly.Module | null)[] = [];
    const workers: FakeWorker[] = [];
    const engine = new Engine(new InWorker((compiled) => (given.push(compiled), workers[workers.push(new FakeWorker()) - 1]!)));
    const abort = new AbortController();
    const long = engine.ask(about, {}, { signal: abort.signal });
    await Promise.resolve();
    const module = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
    workers[0]!.emit("message", { data: { module } });
    abort.abort();
    await expect(long).rejects.toMatchObject({ name: "AbortError" });
    vi.runAllTimers();
    vi.useRealTimers();
    expect(given).toEqual([null, module]);
  });

  it("ends no Worker that says in time that it has dropped the question", async () => {
    vi.useFakeTimers();
    const worker = new FakeWorker();
    const abort = new AbortController();
    const asked = new Engine(new InWorker(() => worker)).ask(about, {}, { signal: abort.signal });
    await Promise.resolve();
    abort.abort();
    await expect(asked).rejects.toMatchObject({ name: "AbortError" });
    worker.emit("message", { data: { id: 1, done: true } });
    vi.runAllTimers();
    vi.useRealTimers();
    expect(worker.terminated).toBe(false);
  });

  it("is gone once the Worker stops", async () => {
    const worker = new FakeWorker();
    const asked = new Engine(new InWorker(() => worker)).ask(about, {});
    await Promise.resolve();
    worker.emit("error", { message: "out of memory" });
    await expect(asked).rejects.toThrow(EngineGone);
  });
});

describe("in a frame", () => {
  class FakeHost implements Host {
    posted: unknown[] = [];
    listener = (_: { data: unknown; source: unknown }) => {};
    postMessage(message: { qkv: unknown }) {
      this.posted.push(message.qkv);
    }
    addEventListener(_: "message", listener: FakeHost["listener"]) {
      this.listener = listener;
    }
    say(qkv: unknown, source: unknown = this) {
      this.listener({ data: { qkv }, source });
    }
  }

  function shown() {
    const host = new FakeHost();
    const gone: string[] = [];
    return { host, gone, transport: new InHost("a notebook", host, host, (address) => gone.push(address)) };
  }

  it("asks who shows the page, and takes the bytes of each question as they come", async () => {
    const { host, transport } = shown();
    const first = new Engine(transport).ask(about, {});
    const second = new Engine(transport).ask("bench", {});
    await Promise.resolve();
    expect(host.posted).toEqual([{ id: 1, name: "about", body: "{}" }, { id: 2, name: "bench", body: "{}" }]);
    const bytes = reply({ version: "a" });
    host.say({ id: 2, bytes: reply({ title: "b" }).buffer });
    host.say({ id: 1, bytes: bytes.slice(0, 5) });
    host.say({ id: 1, bytes: bytes.slice(5) });
    host.say({ id: 2, done: true });
    host.say({ id: 1, done: true });
    expect(await first).toEqual({ version: "a" });
    expect(await second).toEqual({ title: "b" });
  });

  it("hears nobody else, says when nobody waits, and is gone when the host says so", async () => {
    const { host, transport } = shown();
    const abort = new AbortController();
    const dropped = new Engine(transport).ask(about, {}, { signal: abort.signal });
    const lost = new Engine(transport).ask("bench", {});
    await Promise.resolve();
    host.say({ id: 2, failed: "somebody else" }, new FakeHost());
    abort.abort();
    await expect(dropped).rejects.toMatchObject({ name: "AbortError" });
    expect(host.posted.at(-1)).toEqual({ id: 1, cancel: true });
    host.say({ id: 2, failed: "The kernel is gone." });
    await expect(lost).rejects.toThrow(new EngineGone("The kernel is gone."));
  });

  it("tells where the reader is, gathered, and goes where the host says", () => {
    vi.useFakeTimers();
    const { host, gone, transport } = shown();
    transport.tell("/step?q=1");
    transport.tell("/step?q=2");
    vi.runAllTimers();
    vi.useRealTimers();
    expect(host.posted).toEqual([{ address: "/step?q=2" }]);
    host.say({ address: "/heads" });
    expect(gone).toEqual(["/heads"]);
  });
});

describe("bytes in a page", () => {
  it("are text of 85 digits, as apps/studio/file/encodings.cc writes it", () => {
    expect(base85(Uint8Array.of(0x86, 0x4f, 0xd2, 0x6f, 0xb5, 0x59, 0xf7, 0x5b))).toBe("HelloWorld");
    expect(base85(Uint8Array.of(0xff, 0xfe))).toBe("$nz");
    for (let length = 0; length < 9; ++length) {
      const bytes = Uint8Array.from({ length }, (_, at) => 255 - 31 * at);
      expect(fromBase85(base85(bytes))).toEqual(bytes);
    }
    expect(() => fromBase85("Hello<orld")).toThrow("expected a digit of base 85, got “<”");
  });
});

describe("frozen into the page", () => {
  const frozen = new Frozen(new Map([["about {}", Uint8Array.from(reply({ version: "1" }))]]));

  it("answers what it holds, and says so of the rest", async () => {
    const engine = new Engine(frozen);
    expect(await engine.ask(about, {})).toEqual({ version: "1" });
    expect(engine.answers(about, {})).toBe(true);
    expect(engine.answers("bench", { q: "1" })).toBe(false);
    await expect(engine.ask("bench", { q: "1" })).rejects.toThrow("holds 0 replies of the kind “bench”");
  });

  it("reads what was packed, and refuses what is not whole", async () => {
    const numbers = reply({ q: 0 }, Uint8Array.from({ length: 19 }, (_, at) => at + 1));
    const packed = await frozenText([["about {}", reply({ version: "1" })], ["bench {}", numbers]]);
    const read = await frozenReplies(packed);
    expect([...read.keys()]).toEqual(["about {}", "bench {}"]);
    expect(read.get("about {}")).toEqual(Uint8Array.from(reply({ version: "1" })));
    expect(read.get("bench {}")).toEqual(Uint8Array.from(numbers));
    const alike = reply({ q: 0 }, Uint8Array.from({ length: 4096 }, (_, at) => (at * at) % 7));
    const again = await frozenReplies(await frozenText([["bench {}", alike]]));
    expect(again.get("bench {}")).toEqual(Uint8Array.from(alike));
    await expect(frozenReplies(packed.slice(0, 24))).rejects.toThrow();
  });

  it("keeps the frames of what it was replied, for a file", async () => {
    const engine = new Engine(frozen);
    await engine.ask("about", {});
    const again = new Engine(new Frozen(new Map(engine.replies)));
    expect(await again.ask("about", {})).toEqual({ version: "1" });
  });
});
