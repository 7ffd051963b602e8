"""Typical uses, which pyright reads and nobody runs: test_types.py."""

from collections.abc import Iterator
from typing import Any, assert_type

import numpy
from numpy.typing import NDArray

import qkv
from qkv import insight

Singles = NDArray[numpy.float32]


def attention_of_arrays(q: Singles, k: Singles, v: NDArray[numpy.float32], visible: NDArray[numpy.bool_]) -> None:
    assert_type(qkv.attention(q, k, v), Singles)
    assert_type(qkv.attention(q, k, v, mask="causal", bias="alibi", scale=0.5, softcap=30.0, threads=2), Singles)
    assert_type(qkv.attention(q, k, v, mask=visible, dropout=(0.1, 7), sinks=[0.0, 1.0], target="avx2"), Singles)
    assert_type(qkv.attention(q, k, v, ragged=([0, 3], [0, 3])), Singles)
    result = qkv.attention(q, k, v, mask=lambda b, h, i, j: (j <= i) & (h + b < 4), return_lse=True)
    assert_type(result.out, Singles)
    assert_type(result.lse, NDArray[Any])
    out, lse = result
    gradients = qkv.attention_backward(numpy.ones_like(out), q, k, v, out, lse)
    assert_type(gradients.d_q, Singles)
    some = qkv.attention_backward(numpy.ones_like(out), q, k, v, out, lse, wants=["q", "bias"])
    assert_type(some.d_k, Singles | None)
    assert_type(some.d_bias, list[NDArray[Any]])
    assert_type(qkv.attention_stage("weights", q, k, mask="causal"), NDArray[numpy.float64])


def attention_of_four_axes(q: numpy.ndarray[tuple[int, int, int, int], numpy.dtype[numpy.float16]]) -> None:
    assert_type(qkv.attention(q, q, q), numpy.ndarray[tuple[int, int, int, int], numpy.dtype[numpy.float16]])


class Library:
    """An array of a library with DLPack."""

    def __dlpack__(self, *, stream: None = None) -> object: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


def attention_of_a_library(x: Library, view: memoryview, with_lse: bool) -> None:
    assert_type(qkv.attention(x, x, x), Library)
    assert_type(qkv.attention(x, x, x, return_lse=True).lse, Library)
    assert_type(qkv.attention_backward(x, x, x, x, x, x).d_v, Library)
    assert_type(qkv.attention(view, view, view), NDArray[Any])
    assert_type(qkv.attention(x, x, x, return_lse=with_lse), Library | qkv.AttentionResult[Library, Library])


def masks_and_biases(table: Singles) -> None:
    mask = qkv.Mask.causal() & qkv.Mask.window(left=3, right=0) | "global(4)"
    assert_type("prefix(2)" | ~mask, qkv.Mask)
    assert_type(qkv.Mask.documents(3, 4, 5, align="top_left").array(Tq=12, Tk=12), NDArray[numpy.bool_])
    assert_type(qkv.Mask.documents([3, 4, 5]).coverage(12, 12), float)
    assert_type(qkv.Mask.from_function(lambda b, h, i, j: j <= i, 4, 4), qkv.Mask)
    bias = qkv.Bias.alibi(0.5, 0.25) + qkv.Bias.t5(table, max_distance=64) + "alibi"
    assert_type(bias.array(4, 4, H=2), NDArray[numpy.float64])
    assert_type(bias.terms(), list[qkv.Bias])


def probes(q: Singles, lse: Singles) -> None:
    probe = qkv.Probe(q, q, lse, mask="causal")
    assert_type(probe.shape, tuple[int, int, int, int])
    assert_type(probe.map(8, 8, heads=[0, 1], queries=(0, 4), of="mean").mean, NDArray[numpy.float64])
    assert_type(probe.top_keys(3).keys, NDArray[numpy.int64])
    assert_type(probe.statistics(h=1).mean("entropy"), float)
    assert_type(probe.of_queries(slice(0, 10, 2)), qkv.Probe)
    probe.weights(1, queries=slice(2, 4), keys=(0, 2)).max()
    qkv.GradientProbe(q, q, q, q, q, lse, mask="causal").tile(stage="weights").sum()


def written(model: qkv.Model) -> Iterator[str]:
    assert_type(model.generate("abc", tokens=3), qkv.Written)
    assert_type(model.generate(["abc", "bcd"], temperature=0.5), list[qkv.Written])
    model.generate("abc", on_text=lambda part: print(part, end=""))
    model.generate(["abc", "bcd"], on_text=lambda n, part: print(n, part))
    yield from model.stream("abc", tokens=3, stop=["d"])


def looked_into(model: qkv.Model) -> None:
    def halved(value: NDArray[Any]) -> NDArray[Any]:
        return value / 2

    trace = model.trace("abc", keep="logits", edit={"blocks.0.attn.q": halved, ("blocks.0.attn.weights", (0,)): halved})
    assert_type(trace.probe("blocks.0.attn"), qkv.Probe)
    assert_type([name for name in trace], list[str])
    assert_type(trace["logits"], NDArray[Any])
    found = insight.heads(model, ["abc"], count=3)
    assert_type(found.pictures, list[str])
    assert_type(insight.rollout("induction", "abc").maps, list[NDArray[numpy.float64]])
    for gap in model.fill("the [MASK]"):
        assert_type(gap.fillings, list[tuple[str, float]])


def asked() -> None:
    print(qkv.ask("cost", preset="gpt2", tokens=2048)["groups"], qkv.ask("mask", mask="causal"))
    qkv.ask("change", model="induction", text="abc", remove=["1.0"], freeze_norms=True)
    insight.lens("induction", "abcxyzb", token="c")


def trained(seen: list[qkv.Step]) -> qkv.TrainingRun:
    run = qkv.train("copy", steps=3, optimizer="sgd", callback=seen.append, learning_rate=1e-3)
    assert_type(run.loss, NDArray[numpy.float64])
    assert_type(run.model_at(2).tokenizer.tokens("abc")[0].begin, int)
    return run
