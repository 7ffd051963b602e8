"""score_mod of tensors: the reference calls the function, and PyTorch differentiates it."""

# PyTorch leaves some types of its own open.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import torch
from torch import Tensor

import qkv
from qkv.torch._operator import plain, refuse_second_derivatives, refuse_tangents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qkv._types import Want

INPUTS: tuple[Want, ...] = ("q", "k", "v", "sinks")  # of Modified that have gradients, in its order

ScoreFunction: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


def _of_arrays(score_mod: ScoreFunction, records: bool) -> Callable[..., NDArray[Any]]:
    """The function as the reference calls it, with arrays of NumPy."""

    def modify(*arrays: NDArray[Any]) -> NDArray[Any]:
        with torch.set_grad_enabled(records):
            said = score_mod(*map(torch.from_numpy, arrays))
        if not isinstance(said, Tensor):
            raise TypeError(f"attention: score_mod: expected a function that gives a tensor, got {type(said).__name__}")
        if said.requires_grad:
            raise ValueError(
                "attention: score_mod: the function reads a tensor that records its gradient, which is not computed "
                "here: detach() it"
            )
        return said.numpy()

    return modify


def _slopes(score_mod: ScoreFunction) -> Callable[..., NDArray[Any]]:
    """Its derivative by the score: each score has a result of its own."""

    def slopes(score: NDArray[Any], *places: NDArray[Any]) -> NDArray[Any]:
        with torch.enable_grad():
            x = torch.from_numpy(score).requires_grad_()
            said = score_mod(x.clone(), *map(torch.from_numpy, places))  # it may write into what it is given
            if not said.requires_grad:
                return torch.zeros_like(x).numpy()
            return torch.autograd.grad(said.expand_as(x), x, torch.ones_like(x))[0].numpy()

    return slopes


class Modified(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, Tensor]:
        q, k, v, sinks, score_mod, records, others = inputs
        options: dict[str, Any] = {**others, "sinks": None if sinks is None else plain(sinks)}
        out, lse = qkv.attention(
            plain(q), plain(k), plain(v), return_lse=True, score_mod=_of_arrays(score_mod, records), **options
        )
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.others = score_mod, options
        return out, lse

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Any, ...]:
        d_out, d_lse = gradients
        needed = ctx.needs_input_grad[:4]
        d_out = torch.zeros_like(ctx.saved_tensors[3]) if d_out is None else d_out
        found = iter(ModifiedGradients.apply(d_out, d_lse, *ctx.saved_tensors, *ctx.others, needed))
        return *(next(found) if is_needed else None for is_needed in needed), None, None, None


class ModifiedGradients(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, ...]:
        d_out, d_lse, q, k, v, out, lse, score_mod, options, needed = inputs
        wants: list[Want] = [name for name, is_needed in zip(INPUTS, needed, strict=True) if is_needed]
        found = qkv.attention_backward(
            plain(d_out), plain(q), plain(k), plain(v), plain(out), plain(lse),
            d_lse=None if d_lse is None else plain(d_lse), wants=wants,
            score_mod=(_of_arrays(score_mod, records=False), _slopes(score_mod)), **options,
        )  # fmt: skip
        return tuple(x for x in (found.d_q, found.d_k, found.d_v, found.d_sinks) if x is not None)

    backward = staticmethod(refuse_second_derivatives)


@torch._disable_dynamo  # torch.compiler.disable, but torch._dynamo is imported by the first call and not at once
def _apart(*inputs: Any) -> tuple[Tensor, Tensor]:
    """Modified as torch.compile has to leave it: between its graphs."""
    return cast("tuple[Tensor, Tensor]", Modified.apply(*inputs))


def modified(
    q: Tensor, k: Tensor, v: Tensor, sinks: Tensor | None, score_mod: ScoreFunction, options: dict[str, Any]
) -> tuple[Tensor, Tensor]:
    """(out, lse) of tensors of four axes; options are those of qkv.attention that stand beside score_mod."""
    refuse_tangents(q, k, v, sinks)
    # torch.compile runs only where torch._dynamo is imported: without it there is nothing to keep out.
    apply = _apart if "torch._dynamo" in sys.modules else cast("Callable[..., tuple[Tensor, Tensor]]", Modified.apply)
    return apply(q, k, v, sinks, score_mod, torch.is_grad_enabled(), options)
