"""qkv put under models that exist, and taken out again."""

from __future__ import annotations

import functools
import importlib.util

import torch
from torch.nn import functional

from qkv.torch import _inputs
from qkv.torch._functional import scaled_dot_product_attention

NAME = "qkv"  # as transformers knows it: attn_implementation="qkv"

_patches: list[Patch] = []
_registered: list[Patch] = []  # those that need NAME in the registries of transformers


class Patch:
    """What patch() did. As a context manager it is undone at the end."""

    def __init__(self, models):
        self.undo = []
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

    def take_out(self):
        while self.undo:
            self.undo.pop()()
        if self in _patches:
            _patches.remove(self)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.take_out()

    def _register(self):
        from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, sdpa_mask
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

        from qkv.torch._transformers import attention_forward

        ALL_ATTENTION_FUNCTIONS.register(NAME, attention_forward)
        ALL_MASK_ATTENTION_FUNCTIONS.register(NAME, sdpa_mask)
        _registered.append(self)

        def unregister():
            _registered.remove(self)
            if not _registered:
                type(ALL_ATTENTION_FUNCTIONS)._global_mapping.pop(NAME)
                type(ALL_MASK_ATTENTION_FUNCTIONS)._global_mapping.pop(NAME)

        self.undo.append(unregister)

    def _replace_function(self):
        original = functional.scaled_dot_product_attention

        @functools.wraps(original)
        def replaced(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
            serves = _serves(query, key, value) and not (is_causal and attn_mask is not None)
            chosen = scaled_dot_product_attention if serves else original
            return chosen(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)

        functional.scaled_dot_product_attention = replaced
        self.undo.append(lambda: setattr(functional, "scaled_dot_product_attention", original))

    def _set_implementation(self, model):
        if not hasattr(model, "set_attn_implementation"):
            raise TypeError(f"qkv.torch.patch: expected a model of transformers, got {type(model).__name__}")
        before = model.config._attn_implementation
        model.set_attn_implementation(NAME)
        if model.config._attn_implementation != NAME:
            raise ValueError(f"qkv.torch.patch: {type(model).__name__} does not let its attention be set")
        self.undo.append(lambda: model.set_attn_implementation(before))


def _serves(*tensors):
    """Elsewhere than on the CPU, PyTorch's own function goes on working."""
    return all(
        isinstance(x, torch.Tensor) and x.device.type == "cpu" and not x.is_nested and x.dtype in _inputs.DTYPES
        for x in tensors
    )


def patch(*models) -> Patch:
    """Puts qkv under existing code; the result is a context manager, and unpatch() takes all out again.

    Without arguments: torch.nn.functional.scaled_dot_product_attention is qkv's for tensors on the CPU, and where
    transformers is installed, its models know attn_implementation="qkv". With models of transformers: theirs alone.
    """
    return Patch(models)


def unpatch():
    """Takes out all that patch() put in, the last first."""
    for one in reversed(list(_patches)):
        one.take_out()
