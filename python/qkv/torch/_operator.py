"""qkv::attention and qkv::attention_backward: operators of PyTorch, which torch.compile keeps whole."""

# PyTorch leaves some types of its own open.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict

import torch
from torch import Tensor
from torch.autograd import forward_ad

import qkv
from qkv._qkv import short_attention
from qkv.torch._watch import tell, watching

if TYPE_CHECKING:
    from qkv._types import Want

INPUTS = ("q", "k", "v", "visible", "bias", "sinks")  # of the operator, in its order
TOP_LEFT = "causal(top_left)"
DIFFERENTIABLE: tuple[Want, ...] = ("q", "k", "v", "bias", "sinks")

mask_of_text = functools.lru_cache(maxsize=64)(qkv.Mask)
bias_of_text = functools.lru_cache(maxsize=64)(qkv.Bias)


def plain(x: Tensor) -> Tensor:
    """What the engine reads: x without its record, and with its signs in memory."""
    if x.requires_grad:
        x = x.detach()
    return x.resolve_neg() if x.is_neg() else x


class _Options(TypedDict, total=False):
    scale: float | None
    softcap: float | None
    threads: int
    mask: qkv.Mask
    bias: qkv.Bias
    sinks: Tensor
    dropout: tuple[float, int]
    ragged: tuple[Sequence[int], Sequence[int]]


def _options(
    visible: Tensor | None,
    bias: Tensor | None,
    sinks: Tensor | None,
    seed: Tensor | None,
    mask_text: str,
    bias_text: str,
    scale: float | None,
    softcap: float | None,
    dropout: float,
    q_offsets: Sequence[int] | None,
    k_offsets: Sequence[int] | None,
) -> _Options:
    options: _Options = {"scale": scale, "softcap": softcap, "threads": torch.get_num_threads()}
    if mask_text:
        options["mask"] = mask_of_text(mask_text)
    if visible is not None:
        shown = qkv.Mask.dense(plain(visible))
        options["mask"] = mask_of_text(mask_text) & shown if mask_text else shown
    if bias_text:
        options["bias"] = bias_of_text(bias_text)
    if bias is not None:
        added = qkv.Bias.dense(plain(bias))
        options["bias"] = bias_of_text(bias_text) + added if bias_text else added
    if sinks is not None:
        options["sinks"] = plain(sinks)
    if seed is not None:
        options["dropout"] = (dropout, int(seed))
    if q_offsets is not None and k_offsets is not None:
        options["ragged"] = (q_offsets, k_offsets)
    return options


def compute(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    visible: Tensor | None,
    bias: Tensor | None,
    sinks: Tensor | None,
    seed: Tensor | None,
    mask_text: str,
    bias_text: str,
    scale: float | None,
    softcap: float | None,
    dropout: float,
    q_offsets: Sequence[int] | None,
    k_offsets: Sequence[int] | None,
) -> tuple[Tensor, Tensor]:
    options = _options(visible, bias, sinks, seed, mask_text, bias_text, scale, softcap, dropout, q_offsets, k_offsets)
    q, k = plain(q), plain(k)
    out, lse = qkv.attention(q, k, plain(v), return_lse=True, **options)
    tell(q, k, lse, options)
    return out, lse


def differentiate(
    d_out: Tensor,
    d_lse: Tensor | None,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    visible: Tensor | None,
    bias: Tensor | None,
    sinks: Tensor | None,
    seed: Tensor | None,
    out: Tensor,
    lse: Tensor,
    mask_text: str,
    bias_text: str,
    scale: float | None,
    softcap: float | None,
    dropout: float,
    q_offsets: Sequence[int] | None,
    k_offsets: Sequence[int] | None,
    wants: str,
) -> list[Tensor]:
    """The gradients that wants names ("q bias"), in the order of DIFFERENTIABLE."""
    options = _options(visible, bias, sinks, seed, mask_text, bias_text, scale, softcap, dropout, q_offsets, k_offsets)
    gradients = qkv.attention_backward(
        plain(d_out),
        plain(q),
        plain(k),
        plain(v),
        plain(out),
        plain(lse),
        d_lse=None if d_lse is None else plain(d_lse),
        wants=_named(wants),
        **options,
    )
    found = {"q": gradients.d_q, "k": gradients.d_k, "v": gradients.d_v, "sinks": gradients.d_sinks}
    if "bias" in wants:
        found["bias"] = gradients.d_bias[-1]  # the tensor is the last summand
    inputs = {"q": q, "k": k, "v": v, "bias": bias, "sinks": sinks}
    return [_there(found[name]).to(_there(inputs[name]).dtype) for name in _named(wants)]


def _named(wants: str) -> list[Want]:
    return [name for name in DIFFERENTIABLE if name in wants.split()]


def _there(x: Tensor | None) -> Tensor:
    assert x is not None  # what is wanted was given
    return x


attention = torch.library.custom_op("qkv::attention", compute, mutates_args=(), device_types="cpu")
attention_backward = torch.library.custom_op(
    "qkv::attention_backward", differentiate, mutates_args=(), device_types="cpu"
)


@attention.register_fake
def _attention_shapes(q: Tensor, k: Tensor, v: Tensor, *others: Any) -> tuple[Tensor, Tensor]:
    lse_type = torch.float64 if q.dtype == torch.float64 else torch.float32
    return q.new_empty(*q.shape[:-1], v.shape[-1]), q.new_empty(q.shape[:-1], dtype=lse_type)


@attention_backward.register_fake
def _gradient_shapes(
    d_out: Tensor,
    d_lse: Tensor | None,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    visible: Tensor | None,
    bias: Tensor | None,
    sinks: Tensor | None,
    *others: Any,
) -> list[Tensor]:
    inputs = {"q": q, "k": k, "v": v, "bias": bias, "sinks": sinks}
    wanted = [_there(inputs[name]) for name in _named(others[-1])]
    return [torch.empty_like(x, memory_format=torch.contiguous_format) for x in wanted]


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*inputs[:7], *output)
    ctx.others = inputs[7:]


def _gradients(
    ctx: Any, d_out: Tensor | None, d_lse: Tensor | None, backward: Callable[..., Sequence[Tensor]]
) -> tuple[Any, ...]:
    *inputs, out, lse = ctx.saved_tensors
    needed = {name: ctx.needs_input_grad[n] for n, name in enumerate(INPUTS)}
    wants = [name for name in DIFFERENTIABLE if needed[name]]
    if d_out is None:
        d_out = torch.zeros_like(out)
    gradients = backward(d_out, d_lse, *inputs, out, lse, *ctx.others, " ".join(wants))
    found = dict(zip(wants, gradients, strict=True))
    return *(found.get(name) for name in INPUTS), None, *(None for _ in ctx.others)


def _backward(ctx: Any, d_out: Tensor | None, d_lse: Tensor | None) -> tuple[Any, ...]:
    return _gradients(ctx, d_out, d_lse, attention_backward)


attention.register_autograd(_backward, setup_context=_setup_context)


def refuse_second_derivatives(ctx: Any, *gradients: Any) -> NoReturn:
    raise NotImplementedError(
        "qkv.torch: second derivatives are not there: the gradients of attention have no gradients of their own. "
        "Take torch.nn.functional.scaled_dot_product_attention under sdpa_kernel(SDPBackend.MATH) for these"
    )


attention_backward.register_autograd(refuse_second_derivatives)


def _one_by_one(operator: Callable[..., Sequence[Tensor]]) -> Callable[..., Any]:
    """vmap of the operator: one call for each place of the batch, as sinks and seeds are those of a whole call."""

    def batched(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        def one(n: int) -> Sequence[Tensor]:
            return operator(*(x if dim is None else x.select(dim, n) for x, dim in zip(args, in_dims, strict=True)))

        answers = [one(n) for n in range(info.batch_size)]
        stacked = [torch.stack(parts) for parts in zip(*answers, strict=True)]
        if operator is attention:
            return tuple(stacked), (0, 0)
        return stacked, [0] * len(stacked)

    return batched


attention.register_vmap(_one_by_one(attention))
attention_backward.register_vmap(_one_by_one(attention_backward))


def refuse_tangents(*tensors: Tensor | None) -> None:
    """Forward-mode differentiation would get no tangent from the operator, and no word of it."""
    if forward_ad._current_level < 0:
        return
    for x in tensors:
        if x is not None and forward_ad.unpack_dual(x).tangent is not None:
            raise NotImplementedError(
                "qkv.torch: forward-mode differentiation is not there; differentiate backwards, or take "
                "torch.nn.functional.scaled_dot_product_attention under sdpa_kernel(SDPBackend.MATH)"
            )


# Asked by every call: the names alone are looked up.
_is_compiling = torch.compiler.is_compiling
_is_transformed = torch._C._are_functorch_transforms_active
_count_of_modes = torch._C._len_torch_dispatch_stack
_tracing_state = torch._C._get_tracing_state
_is_recording = torch.is_grad_enabled
_is_autocast_on = torch._C._is_any_autocast_enabled


def is_overheard() -> bool:
    """True where more than the numbers is asked for: a probe, a trace, a transformation, a mode."""
    return (
        _is_compiling() or _is_transformed() or bool(watching) or _count_of_modes() > 0 or _tracing_state() is not None
    )


def is_watched(*tensors: Tensor | None) -> bool:
    """is_overheard(), or a tensor is of another's class or elsewhere."""
    if is_overheard():
        return True
    for x in tensors:
        if x is not None and (type(x) not in PLAIN_TYPES or not x.is_cpu):
            return True
    return False


PLAIN_TYPES = (Tensor, torch.nn.Parameter)


def short(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: qkv.Mask | str | None,
    scale: float | None,
    grouped: bool,
    over_scores: Tensor | None = None,
) -> Tensor | None:
    """The result of a call that takes some ten microseconds, most of which options and records would be; None of any
    other call. It looks at nothing that the engine looks at as well.
    """
    if is_overheard() or forward_ad._current_level >= 0 or _is_autocast_on():
        return None
    if type(q) not in PLAIN_TYPES or type(k) not in PLAIN_TYPES or type(v) not in PLAIN_TYPES:
        return None
    if over_scores is not None and type(over_scores) not in PLAIN_TYPES:
        return None
    rule = mask_of_text(mask) if isinstance(mask, str) else mask
    return short_attention(q, k, v, rule, scale, _is_recording(), grouped, over_scores)


class Recorded(torch.autograd.Function):
    """The operator's function and formula without PyTorch's dispatcher between them, which takes ten times as long."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, Tensor]:
        output = compute(*inputs)
        _setup_context(ctx, inputs, output)
        return output

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Any, ...]:
        d_out, d_lse = gradients
        # With create_graph the operator records who asks for second derivatives, and refuses them.
        return _gradients(ctx, d_out, d_lse, attention_backward if torch.is_grad_enabled() else differentiate)


class Simple(torch.autograd.Function):
    """Recorded where no tensor but q, k and v is asked about and lse is not wanted: what a small call takes is what
    PyTorch takes for each tensor and argument of a function like this.
    """

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        q, k, v, mask_text, bias_text, scale, softcap = inputs
        options: dict[str, Any] = {
            "mask": mask_of_text(mask_text) if mask_text else None,
            "scale": scale,
            "softcap": softcap,
        }
        if bias_text:
            options["bias"] = bias_of_text(bias_text)
        out, lse = qkv.attention(
            plain(q), plain(k), plain(v), return_lse=True, threads=torch.get_num_threads(), **options
        )
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.options = options
        ctx.texts = mask_text, bias_text
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        (d_out,) = gradients
        q, k, v, out, lse = ctx.saved_tensors
        needed = ctx.needs_input_grad[:3]
        wants: list[Want] = (
            _ALL if all(needed) else [name for name, is_needed in zip(_ALL, needed, strict=True) if is_needed]
        )
        if torch.is_grad_enabled():  # as in Recorded
            scale, softcap = ctx.options["scale"], ctx.options["softcap"]
            settings = (*ctx.texts, scale, softcap, 0.0, None, None, " ".join(wants))
            given = iter(attention_backward(d_out, None, q, k, v, None, None, None, None, out, lse, *settings))
            return *(next(given) if is_needed else None for is_needed in needed), None, None, None, None
        found = qkv.attention_backward(
            plain(d_out), plain(q), plain(k), plain(v), plain(out), lse,
            wants=wants, threads=torch.get_num_threads(), **ctx.options,
        )  # fmt: skip
        return found.d_q, found.d_k, found.d_v, None, None, None, None


_ALL: list[Want] = ["q", "k", "v"]


class Transformed(torch.autograd.Function):
    """The operator under torch.func, whose transformations do not see the formula that is registered."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*inputs: Any) -> tuple[Tensor, Tensor]:
        return attention(*inputs)

    setup_context = staticmethod(_setup_context)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Any, ...]:
        d_out, d_lse = gradients
        return _gradients(ctx, d_out, d_lse, TransformedGradients.apply)


class TransformedGradients(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(*inputs: Any) -> tuple[Tensor, ...]:
        return tuple(attention_backward(*inputs))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        pass

    backward = staticmethod(refuse_second_derivatives)


def records(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """True where a result is to have gradients with respect to one of them."""
    return torch.is_grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad)


def call(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    visible: Tensor | None = None,
    bias: Tensor | None = None,
    sinks: Tensor | None = None,
    mask_text: str = "",
    bias_text: str = "",
    scale: float | None = None,
    softcap: float | None = None,
    dropout: float = 0.0,
    ragged: tuple[Sequence[int], Sequence[int]] | None = None,
    wants_lse: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """(out, lse) of the operator, by the shortest way that serves; lse may be None where it is not wanted. dropout
    draws its seed from PyTorch.
    """
    seed = torch.randint(2**63 - 1, (), device="cpu") if dropout > 0 else None
    q_offsets, k_offsets = ragged or (None, None)
    tensors = (q, k, v, visible, bias, sinks)
    settings = (seed, mask_text, bias_text, scale, softcap, dropout, q_offsets, k_offsets)
    if torch.compiler.is_compiling():
        return attention(*tensors, *settings)
    refuse_tangents(*tensors)
    if torch._C._are_functorch_transforms_active():
        return Transformed.apply(*tensors, *settings)
    if is_watched(*tensors):
        return attention(*tensors, *settings)
    if not wants_lse and visible is bias is sinks is seed is q_offsets and records(q, k, v):
        return Simple.apply(q, k, v, mask_text, bias_text, scale, softcap), None
    if torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors):
        return Recorded.apply(*tensors, *settings)
    return compute(*tensors, *settings)
