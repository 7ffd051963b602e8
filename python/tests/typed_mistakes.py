"""Mistakes, each of which pyright has to find: test_types.py."""

from typing import Any, assert_type

import numpy
from numpy.typing import NDArray

import qkv
from qkv import insight

Singles = NDArray[numpy.float32]


def mistakes(q: Singles, model: qkv.Model) -> None:
    qkv.attention([1.0], q, q)  # wrong
    qkv.attention(q, q)  # wrong
    qkv.attention(q, q, q, maks="causal")  # wrong
    qkv.attention(q, q, q, scale="0.5")  # wrong
    qkv.attention(q, q, q, target="sse")  # wrong
    qkv.attention(q, q, q, mask=lambda i, j: j <= i)  # wrong
    print(qkv.attention(q, q, q).lse)  # wrong
    qkv.attention_stage("wieghts", q, q)  # wrong
    qkv.attention_backward(q, q, q, q, q, q, wants=["queries"])  # wrong
    print(qkv.attention_backward(q, q, q, q, q, q, wants=["q"]).d_q.shape)  # wrong
    qkv.Mask.causal(align="left")  # wrong
    qkv.Mask.causal() & 3  # wrong
    qkv.Probe(q, q).weights(queries=3)  # wrong
    model.generate("abc", token=3)  # wrong
    model.generate("abc", on_text=lambda n, part: print(n, part))  # wrong
    insight.heads(model, sites=3)  # wrong
    insight.lens(model, "abc", tokn="c")  # wrong
    qkv.ask("costs", preset="gpt2")  # wrong
    qkv.ask("cost", tokens="many")  # wrong
    qkv.ask("lens", text="abc")  # wrong
    qkv.train("copy", step=3)  # wrong
    qkv.train("copy", optimizer="lion")  # wrong
    assert_type(qkv.attention(q, q, q), Any)  # wrong
