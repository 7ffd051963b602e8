"""qkv put under models that exist, and taken out again."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from qkv.torch import _inputs
from qkv.torch._functional import scaled_dot_product_attention

NAME = "qkv"  # as transformers knows it: attn_implementation="qkv"

_patches: list[Patch] = []
_registered: list[Patch] = []  # those that need NAME in the registries of transformers


class Patch:
    """What patch() did. As a context manager it is undone at the end."""

    def __init__(self, models: tuple[Any, ...]) -> None:
        self.undo: list[Callable[[], object]] = []
        has_transformers = importlib.util.find_spec("transformers") is not None
        if models and not has_transformers:
            raise ImportError("qkv.torch.patch: models of transformers were given, and transformers is not installed")
        try:
            if has_transformers:
                self._register()
            if not models:
                self._replace_function()
            for model in models:
                self._set_implementation(model)
        except BaseException:
            self.take_out()
            raise
        _patches.append(self)

    def take_out(self) -> None:
        """Undoes what this patch did; a second call does nothing."""
        while self.undo:
            self.undo.pop()()
        if self in _patches:
            _patches.remove(self)

    def __enter__(self) -> Patch:
        return self

    def __exit__(self, *error: object) -> None:
        self.take_out()

    def _register(self) -> None:
        masking: Any = importlib.import_module("transformers.masking_utils")
        modeling: Any = importlib.import_module("transformers.modeling_utils")

        from qkv.torch._transformers import attention_forward

        attentions, masks = modeling.ALL_ATTENTION_FUNCTIONS, masking.ALL_MASK_ATTENTION_FUNCTIONS
        attentions.register(NAME, attention_forward)
        masks.register(NAME, masking.sdpa_mask)
        _registered.append(self)

        def unregister() -> None:
            _registered.remove(self)
            if not _registered:
                for registry in (attentions, masks):
                    kind: Any = registry.__class__
                    kind._global_mapping.pop(NAME)

        self.undo.append(unregister)

    def _replace_function(self) -> None:
        original = functional.scaled_dot_product_attention

        @functools.wraps(original)
        def replaced(
            query: Tensor,
            key: Tensor,
            value: Tensor,
            attn_mask: Tensor | None = None,
            dropout_p: float = 0.0,
            is_causal: bool = False,
            scale: float | None = None,
            enable_gqa: bool = False,
        ) -> Tensor:
            serves = _serves(query, key, value) and not (is_causal and attn_mask is not None)
            chosen = scaled_dot_product_attention if serves else original
            return chosen(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)

        functional.scaled_dot_product_attention = replaced
        self.undo.append(lambda: setattr(functional, "scaled_dot_product_attention", original))

    def _set_implementation(self, model: Any) -> None:
        if not hasattr(model, "set_attn_implementation"):
            raise TypeError(f"qkv.torch.patch: expected a model of transformers, got {type(model).__name__}")
        before = model.config._attn_implementation
        model.set_attn_implementation(NAME)
        if model.config._attn_implementation != NAME:
            raise ValueError(f"qkv.torch.patch: {type(model).__name__} does not let its attention be set")
        self.undo.append(lambda: model.set_attn_implementation(before))


def _serves(*tensors: object) -> bool:
    """Elsewhere than on the CPU, PyTorch's own function goes on working."""
    return all(
        isinstance(x, torch.Tensor) and x.device.type == "cpu" and not x.is_nested and x.dtype in _inputs.DTYPES
        for x in tensors
    )


def patch(*models: Any) -> Patch:
    """Puts qkv under existing code; the result is a context manager, and unpatch() takes all out again.

    Without arguments: torch.nn.functional.scaled_dot_product_attention is qkv's for tensors on the CPU, and where
    transformers is installed, its models know attn_implementation="qkv". With models of transformers: theirs alone.
    """
    return Patch(models)


def unpatch() -> None:
    """Takes out all that patch() put in, the last first."""
    for one in reversed(list(_patches)):
        one.take_out()
