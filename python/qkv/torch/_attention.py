"""attention with all of qkv's options, differentiable by PyTorch."""

# PyTorch leaves some types of its own open.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, overload

import torch
from torch import Tensor

import qkv
from qkv import _functions
from qkv.torch._operator import call, plain, short
from qkv.torch._score import ScoreFunction, modified

if TYPE_CHECKING:
    from qkv._types import BiasRule, MaskRule

MaskOption: TypeAlias = "str | qkv.Mask | Tensor | MaskRule"
BiasOption: TypeAlias = "str | qkv.Bias | Tensor | BiasRule"


def _text_and_tensor(
    word: Literal["mask", "bias"],
    kind: type[qkv.Mask] | type[qkv.Bias],
    given: MaskOption | BiasOption,
    q: Tensor,
    k: Tensor,
) -> tuple[str, Tensor | None]:
    """(text, tensor) of a mask or bias, as an operator of PyTorch can take it: the text is empty or the tensor None."""
    if isinstance(given, str):
        return given, None
    if isinstance(given, Tensor):
        return "", given
    B, H, Tq, Tk = (*q.shape[:3], k.shape[2])
    if isinstance(given, kind):
        text = str(given)
        if _says_all(text, kind):
            return text, None
        return "", torch.from_numpy(given.array(Tq, Tk, B, H))
    if callable(given):
        return "", torch.from_numpy(_functions.evaluate(word, given, B, H, Tq, Tk))
    raise TypeError(
        f"attention: {word}: expected a {kind.__name__}, a text, a tensor or a function, got {type(given).__name__}"
    )


def _says_all(text: str, kind: type[qkv.Mask] | type[qkv.Bias]) -> bool:
    """Whether a Mask or Bias of this text is the one that it was written of."""
    try:
        return str(kind(text)) == text
    except ValueError:
        return False


def _mask(mask: MaskOption | None, q: Tensor, k: Tensor) -> tuple[str, Tensor | None]:
    return ("", None) if mask is None else _text_and_tensor("mask", qkv.Mask, mask, q, k)


def _terms(bias: BiasOption | Sequence[BiasOption] | None) -> list[BiasOption]:
    if bias is None:
        return []
    if isinstance(bias, (list, tuple)):
        return list(cast("Sequence[BiasOption]", bias))
    return [cast("BiasOption", bias)]


def _bias(bias: BiasOption | Sequence[BiasOption] | None, q: Tensor, k: Tensor) -> tuple[str, Tensor | None]:
    """(the text, the tensor) of a sum of biases."""
    pairs = [_text_and_tensor("bias", qkv.Bias, term, q, k) for term in _terms(bias)]
    tensors = [x for _, x in pairs if x is not None]
    total = functools.reduce(operator.add, tensors) if tensors else None
    return " + ".join(text for text, _ in pairs if text), total


def _same_axes(q: Tensor, k: Tensor, v: Tensor) -> None:
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not isinstance(x, Tensor):
            raise TypeError(f"attention: {name}: expected a torch.Tensor, got {type(x).__name__}")
        if x.dim() != q.dim() or not 2 <= q.dim() <= 4:
            raise ValueError(
                f"attention: {name}: expected [B, H, T, D], [H, T, D] or [T, D], the same for q, k and v, "
                f"got {tuple(x.shape)}"
            )


def _offsets(given: Sequence[int]) -> list[int]:
    whole = [int(n) for n in given]
    for n, offset in zip(given, whole, strict=True):
        if n != offset:
            raise ValueError(f"attention: ragged: expected whole numbers, got {n}")
    return whole


def _require_alone(given: dict[str, bool]) -> None:
    for name, is_given in given.items():
        if is_given:
            raise ValueError(f"attention: {name}: expected none beside score_mod, got one")


@overload
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
    score_mod: ScoreFunction | None = None,
    return_lse: Literal[False] = False,
) -> Tensor: ...
@overload
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
    score_mod: ScoreFunction | None = None,
    return_lse: Literal[True],
) -> qkv.AttentionResult[Tensor, Tensor]: ...
@overload
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
    score_mod: ScoreFunction | None = None,
    return_lse: bool,
) -> Tensor | qkv.AttentionResult[Tensor, Tensor]: ...
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
    score_mod: ScoreFunction | None = None,
    return_lse: bool = False,
) -> Tensor | qkv.AttentionResult[Tensor, Tensor]:
    """qkv.attention() of tensors, with gradients by PyTorch of q, k, v, of a bias that is a tensor, and of sinks.

    Shapes: q [B, Hq, Tq, D], k [B, Hk, Tk, D], v [B, Hk, Tk, Dv]; Hq a multiple of Hk. All three may leave out B, or B
    and H.

    mask      a Mask, a text ("causal & window(512)"), a bool tensor that broadcasts to [B, Hq, Tq, Tk], or a function
              of (b, h, i, j). True: query i sees key j.
    bias      a Bias, a text ("alibi"), a float tensor, a function, or a list of these, which are added.
    dropout   the share of weights that become 0; the seed is drawn from PyTorch's generator.
    sinks     a tensor with one logit for each query head.
    ragged    (q_offsets, k_offsets): documents packed end to end, B = 1.
    score_mod a function of tensors (score, b, h, q_idx, k_idx), as FlexAttention has it, that gives the score to use
              after scale and softcap, before the mask, each from its own score alone. PyTorch differentiates it with
              respect to the score. It is called with blocks of some queries of one head: score float64 [n, Tk], b and
              h without axes, q_idx [n, 1], k_idx [1, Tk]. Computed by the reference: one thread, O(Tq * Tk) time.
              Not with bias, dropout or ragged.

    Returns out [B, Hq, Tq, Dv]; with return_lse an AttentionResult (out, lse), lse [B, Hq, Tq], differentiable too.
    Raises ValueError naming the argument, as qkv.attention() does.
    """
    if bias is sinks is ragged is score_mod is softcap is None and dropout == 0 and not return_lse:
        if mask is None or isinstance(mask, (str, qkv.Mask)):
            out = short(q, k, v, mask, scale, grouped=True)
            if out is not None:
                return out
    _same_axes(q, k, v)
    missing = 4 - q.dim()
    for _ in range(missing):
        q, k, v = q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0)
    if score_mod is not None:
        _require_alone({"bias": bias is not None, "dropout": dropout > 0, "ragged": ragged is not None})
        shown = plain(mask) if isinstance(mask, Tensor) else mask
        out, lse = modified(q, k, v, sinks, score_mod, {"mask": shown, "scale": scale, "softcap": softcap})
    else:
        mask_text, visible = _mask(mask, q, k)
        bias_text, dense = _bias(bias, q, k)
        if ragged is not None:
            ragged = (_offsets(ragged[0]), _offsets(ragged[1]))
        out, lse = call(
            q, k, v, visible=visible, bias=dense, sinks=sinks, mask_text=mask_text, bias_text=bias_text,
            scale=scale, softcap=softcap, dropout=float(dropout), ragged=ragged,
            wants_lse=return_lse,
        )  # fmt: skip
    for _ in range(missing):
        out, lse = out.squeeze(0), lse if lse is None else lse.squeeze(0)
    if not return_lse:
        return out
    assert lse is not None  # it was wanted
    return qkv.AttentionResult(out, lse)
