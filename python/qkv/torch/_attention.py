"""attention with all of qkv's options, differentiable by PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

import qkv
from qkv import _functions
from qkv.torch._operator import call

MaskOption = str | qkv.Mask | Tensor | Callable
BiasOption = str | qkv.Bias | Tensor | Callable


def _text_of(word, kind, value):
    """A Mask or Bias as its text, which an operator of PyTorch can take; None for one that its text does not say."""
    text = str(value)
    try:
        return text if str(kind(text)) == text else None
    except ValueError:
        return None


def _mask(mask, q, k):
    """(the text, the tensor) of a mask; one of them is empty."""
    if mask is None or isinstance(mask, str):
        return mask or "", None
    if isinstance(mask, Tensor):
        return "", mask
    B, H, Tq, Tk = (*q.shape[:3], k.shape[2])
    if isinstance(mask, qkv.Mask):
        text = _text_of("mask", qkv.Mask, mask)
        return (text, None) if text is not None else ("", torch.from_numpy(mask.array(Tq, Tk, B, H)))
    if callable(mask):
        return "", torch.from_numpy(_functions.evaluate("mask", mask, B, H, Tq, Tk))
    raise TypeError(f"attention: mask: expected a Mask, a text, a tensor or a function, got {type(mask).__name__}")


def _one_bias(bias, q, k):
    if isinstance(bias, str):
        return bias, None
    if isinstance(bias, Tensor):
        return "", bias
    B, H, Tq, Tk = (*q.shape[:3], k.shape[2])
    if isinstance(bias, qkv.Bias):
        text = _text_of("bias", qkv.Bias, bias)
        return (text, None) if text is not None else ("", torch.from_numpy(bias.array(Tq, Tk, B, H)))
    if callable(bias):
        return "", torch.from_numpy(_functions.evaluate("bias", bias, B, H, Tq, Tk))
    raise TypeError(f"attention: bias: expected a Bias, a text, a tensor or a function, got {type(bias).__name__}")


def _bias(bias, q, k):
    """(the text, the tensor) of a sum of biases."""
    terms = () if bias is None else bias if isinstance(bias, (list, tuple)) else (bias,)
    texts, tensors = zip(*(_one_bias(term, q, k) for term in terms), strict=True) if terms else ((), ())
    tensors = [x for x in tensors if x is not None]
    return " + ".join(text for text in texts if text), sum(tensors[1:], tensors[0]) if tensors else None


def _same_axes(q, k, v):
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not isinstance(x, Tensor):
            raise TypeError(f"attention: {name}: expected a torch.Tensor, got {type(x).__name__}")
        if x.dim() != q.dim() or not 2 <= q.dim() <= 4:
            raise ValueError(
                f"attention: {name}: expected [B, H, T, D], [H, T, D] or [T, D], the same for q, k and v, got {tuple(x.shape)}"
            )


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: MaskOption | None = None,
    bias: BiasOption | Sequence[BiasOption] | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    dropout: float = 0.0,
    sinks: Tensor | None = None,
    ragged: tuple[Sequence[int], Sequence[int]] | None = None,
    return_lse: bool = False,
) -> Tensor | qkv.AttentionResult:
    """qkv.attention() of tensors, with gradients by PyTorch of q, k, v, of a bias that is a tensor, and of sinks.

    Shapes: q [B, Hq, Tq, D], k [B, Hk, Tk, D], v [B, Hk, Tk, Dv]; Hq a multiple of Hk. All three may leave out B, or B and H.

    mask      a Mask, a text ("causal & window(512)"), a bool tensor that broadcasts to [B, Hq, Tq, Tk], or a function of
              (b, h, i, j). True: query i sees key j.
    bias      a Bias, a text ("alibi"), a float tensor, a function, or a list of these, which are added.
    dropout   the share of weights that become 0; the seed is drawn from PyTorch's generator.
    sinks     a tensor with one logit for each query head.
    ragged    (q_offsets, k_offsets): documents packed end to end, B = 1.

    Returns out [B, Hq, Tq, Dv]; with return_lse an AttentionResult (out, lse), lse [B, Hq, Tq], which is differentiable too.
    Raises ValueError naming the argument, as qkv.attention() does.
    """
    _same_axes(q, k, v)
    missing = 4 - q.dim()
    for _ in range(missing):
        q, k, v = q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0)
    mask_text, visible = _mask(mask, q, k)
    bias_text, dense = _bias(bias, q, k)
    if ragged is not None:
        ragged = tuple([int(n) for n in offsets] for offsets in ragged)
    out, lse = call(
        q, k, v, visible=visible, bias=dense, sinks=sinks, mask_text=mask_text, bias_text=bias_text,
        scale=scale, softcap=softcap, dropout=float(dropout), ragged=ragged,
        wants_lse=return_lse,
    )  # fmt: skip
    for _ in range(missing):
        out, lse = out.squeeze(0), lse if lse is None else lse.squeeze(0)
    return qkv.AttentionResult(out, lse) if return_lse else out
