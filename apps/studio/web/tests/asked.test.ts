import { signal } from "@preact/signals";
import { describe, expect, it, vi } from "vitest";
import { asked } from "../src/engine/asked";
import type { Engine } from "../src/engine/engine";
import { EngineError, EngineGone } from "../src/engine/errors";
import type { BenchRequest } from "../src/engine/messages";

/** An engine whose replies come when the test says so. */
function slow() {
  const questions: {
    request: BenchRequest;
    resolve: (reply: unknown) => void;
    reject: (error: unknown) => void;
    signal: AbortSignal;
  }[] = [];
  const engine = {
    ask: (_: string, request: BenchRequest, { signal }: { signal: AbortSignal }) =>
      new Promise((resolve, reject) => questions.push({ request, resolve, reject, signal })),
  } as unknown as Engine;
  return { engine, questions };
}

const settle = () => new Promise((resolve) => setTimeout(resolve));

describe("a reply that follows its request", () => {
  it("asks one question at a time, and of those that waited the newest", async () => {
    const { engine, questions } = slow();
    const request = signal<BenchRequest | null>({ query: 0 });
    const state = asked(engine, "bench", request);
    request.value = { query: 1 };
    request.value = { query: 2 };
    expect(questions.map((one) => one.request)).toEqual([{ query: 0 }]);
    questions[0]!.resolve({ title: "first" });
    await settle();
    expect(state.reply.value).toEqual({ title: "first" });
    expect(questions.map((one) => one.request)).toEqual([{ query: 0 }, { query: 2 }]);
  });

  it("keeps the last good reply beside an error, until the next good one", async () => {
    const { engine, questions } = slow();
    const request = signal<BenchRequest | null>({});
    const state = asked(engine, "bench", request);
    questions[0]!.resolve({ title: "good" });
    await settle();
    request.value = { mask: "windw" };
    questions[1]!.reject(new EngineError("no windw", "mask"));
    await settle();
    expect(state.reply.value).toEqual({ title: "good" });
    expect(state.error.value?.field).toBe("mask");
    request.value = { mask: "causal" };
    questions[2]!.resolve({ title: "better" });
    await settle();
    expect(state.error.value).toBeNull();
    expect(state.answered.value).toEqual({ mask: "causal" });
  });

  it("says when the engine is gone, and dims only after a while", async () => {
    vi.useFakeTimers();
    const { engine, questions } = slow();
    const state = asked(engine, "bench", signal<BenchRequest | null>({}));
    await vi.advanceTimersByTimeAsync(100);
    expect(state.waiting.value).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    expect(state.waiting.value).toBe(true);
    questions[0]!.reject(new EngineGone("gone"));
    await vi.advanceTimersByTimeAsync(0);
    expect(state.waiting.value).toBe(false);
    expect(state.gone.value?.message).toBe("gone");
    vi.useRealTimers();
  });

  it("asks nothing for no request, and ends its work when it is stopped", () => {
    const { engine, questions } = slow();
    const request = signal<BenchRequest | null>(null);
    const state = asked(engine, "bench", request);
    expect(questions).toEqual([]);
    request.value = {};
    state.stop();
    expect(questions[0]!.signal.aborted).toBe(true);
  });
});
