"""What PyTorch's function takes, checked in its words and brought to four axes."""

# PyTorch leaves some types of its own open.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NoReturn

import torch
from torch import Tensor

NAME = "scaled_dot_product_attention"
DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)


def refuse(message: str) -> NoReturn:
    raise RuntimeError(f"{NAME}: {message}")


def check_tensors(**given: object) -> None:
    for name, x in given.items():
        if not isinstance(x, Tensor):
            raise TypeError(f"{NAME}: {name} must be Tensor, not {type(x).__name__}")


def check(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None) -> None:
    """Raises as PyTorch does: TypeError for what is no tensor, RuntimeError otherwise."""
    check_tensors(query=query, key=key, value=value)
    if attn_mask is not None:
        check_tensors(attn_mask=attn_mask)
    if not query.dtype == key.dtype == value.dtype:
        refuse(
            "expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query.dtype} key.dtype: {key.dtype} and value.dtype: {value.dtype}"
        )
    if query.dtype not in DTYPES:
        refuse(f"expected float32, bfloat16, float16 or float64, but got query.dtype: {query.dtype}")
    if not query.device == key.device == value.device:
        refuse(
            "expected query, key, and value to have the same device, but got query.device: "
            f"{query.device} key.device: {key.device} and value.device: {value.device}"
        )
    if query.device.type not in ("cpu", "meta"):
        refuse(f"qkv computes on the CPU, but query is on {query.device}: copy it there with query.cpu()")
    if any(x.layout != torch.strided or x.is_nested for x in (query, key, value)):
        refuse(
            "expected dense strided tensors; of nested ones give each part by itself, or qkv.torch.attention(ragged=…)"
        )
    if min(query.dim(), key.dim(), value.dim()) < 2:
        refuse(
            "expected query, key, and value to all be at least 2 dimensional, but got query.dim: "
            f"{query.dim()} key.dim: {key.dim()} and value.dim: {value.dim()}"
        )
    if query.shape[-1] != key.shape[-1]:
        refuse(f"expected query and key of one last size, but got {tuple(query.shape)} and {tuple(key.shape)}")
    if key.shape[-2] != value.shape[-2]:
        refuse(f"expected as many keys as values, but got {tuple(key.shape)} and {tuple(value.shape)}")
    if attn_mask is not None and attn_mask.dtype not in (torch.bool, torch.float32, query.dtype):
        refuse(
            "expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{attn_mask.dtype} and query.dtype: {query.dtype}"
        )


def _with_heads_of_query(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """enable_gqa: groups of query heads share a key head; key and value may have numbers of heads of their own."""
    if min(query.dim(), key.dim(), value.dim()) < 3:
        refuse("enable_gqa=True: expected at least 3 dimensions, the third last of which counts heads")
    heads = query.shape[-3]
    for x in (key, value):
        if x.shape[-3] == 0 or heads % x.shape[-3] != 0:
            refuse(
                "enable_gqa=True: number of heads in key and value must divide the number of heads in query, but got "
                f"{key.shape[-3]} and {value.shape[-3]} for {heads}"
            )
    if key.shape[-3] != value.shape[-3]:
        key, value = (x.repeat_interleave(heads // x.shape[-3], dim=-3) for x in (key, value))
    return key, value


def _heads_last(x: Tensor, batch: Sequence[int], heads: int) -> Tensor:
    """x as [B, heads or 1 or its own number, T, D], its batch axes broadcast."""
    while x.dim() < 3 + len(batch):
        x = x.unsqueeze(0)
    x = x.expand(*batch, heads, *x.shape[-2:])
    return x.reshape(math.prod(batch), *x.shape[-3:])


def four_axes(
    query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool
) -> tuple[Tensor, Tensor, Tensor, tuple[int, ...]]:
    """query [B, Hq, Tq, D], key and value [B, Hk, Tk, …], and the leading axes of the result."""
    if query.dim() == key.dim() == value.dim() == 4 and query.shape[0] == key.shape[0] == value.shape[0]:
        if query.shape[1] == key.shape[1] == value.shape[1]:
            return query, key, value, query.shape[:2]
    if enable_gqa:
        key, value = _with_heads_of_query(query, key, value)
        heads = (query.shape[-3], key.shape[-3], value.shape[-3])
        batch = _broadcast(*(x.shape[:-3] for x in (query, key, value)))
        leading = (*batch, heads[0])
    else:
        leading = _broadcast(*(x.shape[:-2] for x in (query, key, value)))
        batch, all_heads = leading[:-1], leading[-1] if leading else 1
        # One key head that all queries share is grouped attention, too.
        is_shared = all(x.dim() < 3 or x.shape[-3] == 1 for x in (key, value))
        heads = (all_heads, *[1 if is_shared and all_heads > 0 else all_heads] * 2)
    q, k, v = (_heads_last(x, batch, n) for x, n in zip((query, key, value), heads, strict=True))
    return q, k, v, leading


def _broadcast(*shapes: Sequence[int]) -> tuple[int, ...]:
    try:
        return tuple(torch.broadcast_shapes(*shapes))
    except RuntimeError as error:
        refuse(
            "the leading sizes of query, key and value do not broadcast: "
            f"{', '.join(str(tuple(s)) for s in shapes)}: {error}"
        )


def mask_of_four_axes(mask: Tensor, leading: Sequence[int], Tq: int, Tk: int) -> Tensor:
    """attn_mask broadcast as PyTorch does, but for axes that it only repeats: they stay 1 and are read once."""
    full = (*leading, Tq, Tk)
    given = (1,) * (len(full) - mask.dim()) + tuple(mask.shape)
    if len(given) > len(full) or any(a not in (1, b) for a, b in zip(given, full, strict=True)):
        refuse(f"attn_mask of {tuple(mask.shape)} does not broadcast to {full}")
    mask = mask.reshape(given)
    if not mask.requires_grad and not torch.compiler.is_compiling():
        for axis, stride in enumerate(mask.stride()):
            if stride == 0 and mask.shape[axis] > 1:
                mask = mask.narrow(axis, 0, 1)
    batch = mask.shape[:-3]
    if len(batch) > 1:
        if any(n != 1 for n in batch):
            mask = mask.expand(*leading[:-1], *mask.shape[-3:])
        mask = mask.reshape(math.prod(mask.shape[:-3]), *mask.shape[-3:])
    return mask
