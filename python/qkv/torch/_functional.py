"""scaled_dot_product_attention, by PyTorch's signature and meaning."""

# PyTorch leaves some types of its own open.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import qkv
from qkv.torch import _inputs
from qkv.torch._operator import (
    TOP_LEFT,
    Simple,
    call,
    is_watched,
    mask_of_text,
    plain,
    records,
    refuse_tangents,
    short,
)


def _cast_by_autocast(x: Tensor) -> Tensor:
    """PyTorch's own function is of those that autocast casts: float32 becomes the type of the region."""
    dtype = torch.get_autocast_dtype("cpu")
    return x.to(dtype) if isinstance(x, Tensor) and x.dtype == torch.float32 and x.is_cpu else x


def _is_plain(query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Four axes, as many heads and batch entries each, numbers and no more: the engine can read them at once."""
    if query is None or key is None or value is None:
        return False
    if is_watched(query, key, value) or torch.is_autocast_enabled("cpu"):
        return False
    refuse_tangents(query, key, value)
    if query.dim() != 4 or query.is_neg():
        return False
    shape = query.shape
    return 0 not in shape and shape[:2] == key.shape[:2] == value.shape[:2]


def _text_of_causal_bias(bias: Any, query: Tensor, key: Tensor, is_causal: bool) -> str:
    """The mask of a CausalBias of torch.nn.attention.bias, which is a tensor in name only: it holds no numbers."""
    if is_causal:
        raise ValueError("CausalBias should not be used with causal=True")
    if bias.variant.name == "UPPER_LEFT" or bias.seq_len_q == bias.seq_len_kv:
        return TOP_LEFT
    told, given = (bias.seq_len_q, bias.seq_len_kv), (query.shape[-2], key.shape[-2])
    if told != given:
        wanted = f"a CausalBias of {given[0]} queries and {given[1]} keys"
        _inputs.refuse(f"attn_mask: expected {wanted}, but got one of {told}")
    return "causal"


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """torch.nn.functional.scaled_dot_product_attention, computed by qkv: forward and backward in O(T) memory.

    Shapes: query [..., Tq, D], key [..., Tk, D], value [..., Tk, Dv], leading axes broadcast; with enable_gqa the
    number of query heads, the third last axis, is a multiple of those of key and value. attn_mask broadcasts to
    [..., Tq, Tk]: bool, true sees, or float, added to the scores, with a gradient of its own, or it is a CausalBias of
    torch.nn.attention.bias. is_causal is aligned top-left. dropout draws its seed from PyTorch's generator.

    Raises RuntimeError and TypeError where PyTorch does. docs/python.md lists what differs.
    """
    mask_text = TOP_LEFT if is_causal else ""
    if dropout_p == 0:
        try:
            out = short(query, key, value, TOP_LEFT if is_causal else None, scale, enable_gqa, attn_mask)
        except ValueError:
            _inputs.check(query, key, value, attn_mask)  # in PyTorch's words, where it refuses them, too
            raise
        if out is not None:
            return out
    if attn_mask is not None and type(attn_mask).__name__ == "CausalBias":
        _inputs.check_tensors(query=query, key=key, value=value)
        attn_mask, mask_text = None, _text_of_causal_bias(attn_mask, query, key, is_causal)
    if attn_mask is None and dropout_p == 0 and _is_plain(query, key, value):
        try:
            if records(query, key, value):
                return Simple.apply(query, key, value, mask_text, "", scale, None)
            mask = mask_of_text(mask_text) if mask_text else None
            q, k, v = plain(query), plain(key), plain(value)
            return qkv.attention(q, k, v, mask=mask, scale=scale, threads=torch.get_num_threads())
        except ValueError:
            _inputs.check(query, key, value, None)  # in PyTorch's words, where it refuses them, too
            raise
    if torch.is_autocast_enabled("cpu"):
        query, key, value = _cast_by_autocast(query), _cast_by_autocast(key), _cast_by_autocast(value)
        attn_mask = None if attn_mask is None else _cast_by_autocast(attn_mask)
    _inputs.check(query, key, value, attn_mask)
    if is_causal and attn_mask is not None:
        _inputs.refuse("Explicit attn_mask should not be set when is_causal=True")
    if not 0 <= dropout_p <= 1:
        _inputs.refuse(f"dropout probability has to be between 0 and 1, but got {dropout_p}")
    q, k, v, leading = _inputs.four_axes(query, key, value, enable_gqa)
    if q.shape[1] == 0:  # the engine wants a head; here is nothing to compute
        return q @ k.mT @ v
    if q.shape[3] == 0:  # all scores are 0: one column of zeros says the same
        q, k = torch.nn.functional.pad(q, (0, 1)), torch.nn.functional.pad(k, (0, 1))
    visible = bias = None
    if attn_mask is not None:
        mask = _inputs.mask_of_four_axes(attn_mask, leading, q.shape[2], k.shape[2])
        visible, bias = (mask, None) if mask.dtype == torch.bool else (None, mask)
    # All weights dropped: PyTorch multiplies them by 0, and so their gradients.
    dropout = 0.0 if dropout_p == 1 else float(dropout_p)
    out, _ = call(q, k, v, visible=visible, bias=bias, mask_text=mask_text, scale=scale, dropout=dropout)
    if dropout_p == 1:
        out = out * 0.0
    return out if query.dim() == 4 and out.shape[:2] == leading else out.reshape(*leading, *out.shape[2:])
