"""Typical uses of tensors, which pyright reads and nobody runs: test_types.py."""

from typing import assert_type

import torch
from torch import Tensor

import qkv
import qkv.torch


def tensors(q: Tensor, bias: Tensor) -> None:
    assert_type(qkv.attention(q, q, q), Tensor)
    assert_type(qkv.attention(q, q, q, mask=q > 0, return_lse=True), qkv.AttentionResult[Tensor, Tensor])
    assert_type(qkv.attention_backward(q, q, q, q, q, q).d_q, Tensor)
    assert_type(qkv.torch.attention(q, q, q, mask="causal", bias=["alibi", bias], sinks=torch.zeros(4)), Tensor)
    assert_type(qkv.torch.attention(q, q, q, return_lse=True).lse, Tensor)
    assert_type(qkv.torch.attention(q, q, q, score_mod=lambda score, b, h, i, j: score - bias[h] * (i - j)), Tensor)
    assert_type(qkv.torch.scaled_dot_product_attention(q, q, q, is_causal=True), Tensor)
    with qkv.torch.patch():
        pass
