"""attn_implementation="qkv": attention as models of transformers call it."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from qkv.torch._inputs import mask_of_four_axes
from qkv.torch._operator import TOP_LEFT, call


def attention_forward(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    position_bias: Tensor | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **others: Any,
) -> tuple[Tensor, None]:
    """query [B, Hq, Tq, D], key and value [B, Hk, Tk, …], grouped as they are. Gives [B, Tq, Hq, Dv] and no weights.

    attention_mask is that of sdpa_mask(): bool, or None where causal or nothing is meant. softcap and sinks (s_aux) are
    qkv's own; position_bias is added, and gets its gradient.
    """
    if others.get("output_attentions"):
        raise ValueError(
            "qkv: the weights are never stored: qkv.torch.watch() shows them; for output_attentions=True set "
            'attn_implementation="eager"'
        )
    if others.get("cache") is not None:
        raise ValueError('qkv: paged caches are not served: set attn_implementation="sdpa" for continuous batching')
    Tq, Tk = query.shape[2], key.shape[2]
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    # Without a mask, several queries stand at the beginning: transformers' is_causal is aligned top-left.
    mask_text = TOP_LEFT if is_causal and attention_mask is None and Tq > 1 else ""
    visible, bias = None, position_bias
    if attention_mask is not None:
        mask = mask_of_four_axes(attention_mask, query.shape[:2], Tq, Tk)
        if mask.dtype.is_floating_point:
            bias = mask if bias is None else bias + mask
        else:
            visible = mask
    out, _ = call(
        query, key, value, visible=visible, bias=bias, sinks=s_aux, mask_text=mask_text, scale=scaling, softcap=softcap,
        dropout=float(dropout),
    )  # fmt: skip
    return out.transpose(1, 2).contiguous(), None
