#!/usr/bin/env python3
"""Checks what docs/semantics.md says of PyTorch's attention on CPU. Wants torch; written against 2.13.0."""

import math
import warnings

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as sdpa

warnings.simplefilter("ignore")
torch.manual_seed(0)
BACKENDS = (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION)
q, k, v = torch.randn(1, 1, 3, 4), torch.randn(1, 1, 5, 4), torch.randn(1, 1, 5, 4)
TOP_LEFT = torch.ones(3, 5, dtype=torch.bool).tril()


def check(holds, claim):
    print(("ok    " if holds else "WRONG ") + claim)
    check.failed = check.failed or not holds


check.failed = False


def run(backend, *args, **options):
    with sdpa_kernel(backend):
        return sdpa(*args, **options)


def refused(call):
    try:
        call()
    except RuntimeError:
        return True
    return False


def chosen(*args, **options):
    return SDPBackend(torch._fused_sdp_choice(*args, **options))


def alignment_and_masks():
    sees_nothing = torch.ones(3, 5, dtype=torch.bool)
    sees_nothing[1] = False
    some = torch.rand(3, 5) > 0.3
    for backend in BACKENDS:
        causal = run(backend, q, k, v, is_causal=True)
        check(torch.allclose(causal, run(backend, q, k, v, attn_mask=TOP_LEFT), atol=1e-6),
              f"{backend}: is_causal is top-left, true sees")
        for mask in (sees_nothing, torch.zeros(3, 5).masked_fill(~sees_nothing, -math.inf)):
            check((run(backend, q, k, v, attn_mask=mask)[0, 0, 1] == 0).all(),
                  f"{backend}: a row that sees nothing is 0 ({mask.dtype})")
    check(refused(lambda: run(SDPBackend.MATH, q, k, v, attn_mask=some, is_causal=True)),
          "math: a mask beside is_causal is refused")
    check(torch.allclose(run(SDPBackend.FLASH_ATTENTION, q, k, v, attn_mask=some, is_causal=True),
                         run(SDPBackend.MATH, q, k, v, attn_mask=some & TOP_LEFT), atol=1e-6),
          "fused: a mask beside is_causal: both apply")
    check(refused(lambda: sdpa(q, k, v, attn_mask=some[:, :4])), "a short mask is refused")
    by_head = torch.rand(2, 3, 5) > 0.3
    wide = [x.expand(2, 2, -1, -1) for x in (q, k, v)]
    check(torch.allclose(sdpa(*wide, attn_mask=by_head), sdpa(*wide, attn_mask=by_head.expand(2, 2, 3, 5)), atol=1e-6),
          "a mask of rank 3 is [H, Tq, Tk]")
    lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        q, k, v, attn_mask=torch.zeros(3, 5).masked_fill(~sees_nothing, -math.inf))[1]
    check(lse.flatten()[1] == 0, "fused: the logsumexp of a row that sees nothing is 0")


def nan_leaks():
    hidden = torch.ones(3, 5, dtype=torch.bool)
    hidden[:, 4] = False
    poisoned = v.clone()
    poisoned[0, 0, 4] = math.nan
    for backend in BACKENDS:
        for mask in (hidden, torch.zeros(3, 5).masked_fill(~hidden, -math.inf)):
            check(run(backend, q, k, poisoned, attn_mask=mask).isnan().all(),
                  f"{backend}: NaN in a hidden v reaches the row ({mask.dtype})")


def grouped_heads():
    wide, narrow = torch.randn(1, 4, 3, 4), torch.randn(1, 2, 5, 4)
    repeated = narrow.repeat_interleave(2, 1)
    check(refused(lambda: sdpa(wide, narrow, narrow)), "grouped heads need enable_gqa")
    check(torch.allclose(sdpa(wide, narrow, narrow, enable_gqa=True), sdpa(wide, repeated, repeated), atol=1e-6),
          "consecutive query heads share a key head")


def fallbacks():
    x = torch.randn(2, 4, 16, 8)
    math_path = SDPBackend.MATH
    check(chosen(x, x, x) == SDPBackend.FLASH_ATTENTION, "plain: fused")
    check(chosen(x, x, x, dropout_p=0.1) == math_path, "dropout: math")
    check(chosen(x, x, x, attn_mask=torch.zeros(16, 16, requires_grad=True)) == math_path, "mask gradient: math")
    check(chosen(x, x, x[..., :6].contiguous()) == math_path, "Dv != D: math")
    check(chosen(x.mT.contiguous().mT, x, x) == math_path, "last stride not 1: math")
    check(chosen(x, x, x, attn_mask=torch.zeros(4, 16, 16)) == math_path, "mask of rank 3: math")
    check(not torch.equal(sdpa(x, x, x, dropout_p=0.5), sdpa(x, x, x, dropout_p=0.5)), "dropout: two calls differ")


def multihead_attention():
    layer = torch.nn.MultiheadAttention(4, 1, batch_first=True)
    x = torch.randn(1, 3, 4)
    first = torch.zeros(3, 3, dtype=torch.bool)
    first[:, 0] = True
    check((layer(x, x, x, attn_mask=first)[1][0, :, 0] == 0).all(), "MultiheadAttention: true in attn_mask hides")
    check((layer(x, x, x, key_padding_mask=first[:1])[1][0, :, 0] == 0).all(),
          "MultiheadAttention: true in key_padding_mask hides")
    everything = torch.ones(1, 3, dtype=torch.bool)
    check(layer(x, x, x, key_padding_mask=everything)[0].isnan().all(),
          "MultiheadAttention, need_weights=True: a row that sees nothing is NaN")


def gradients():
    def run(mask, nan_value=False, nan_arriving=False):
        leaves = [x.clone() for x in (q, k, v)]
        if nan_value:
            leaves[2][0, 0, 4] = math.nan
        leaves = [x.requires_grad_() for x in leaves]
        out = sdpa(*leaves, attn_mask=mask)
        d_out = torch.ones_like(out)
        if nan_arriving:
            d_out[0, 0, 1] = math.nan
        out.backward(d_out)
        return [x.grad for x in leaves]

    no_row = torch.zeros(3, 5)
    no_row[1] = -math.inf
    check((run(no_row)[0][0, 0, 1] == 0).all(), "gradients: a row that sees nothing has zeros in d_q")
    check(all(x.isnan().any() for x in run(no_row, nan_arriving=True)),
          "gradients: NaN in d_out of a row that sees nothing reaches d_q, d_k and d_v")
    no_key = torch.ones(3, 5, dtype=torch.bool)
    no_key[:, 4] = False
    check([x.isnan().any().item() for x in run(no_key, nan_value=True)] == [True, True, False],
          "gradients: NaN in a hidden v reaches d_q and d_k")
    broadcast = torch.zeros(3, 1, requires_grad=True)
    sdpa(q, k, v, attn_mask=broadcast + no_row).sum().backward()
    check(broadcast.grad.shape == (3, 1) and broadcast.grad[1] == 0,
          "gradients: a mask's has its own shape, 0 for a row that sees nothing")


def causal_of_no_positive_scale():
    for scale in (0.0, -0.5):
        fused, math_path = (run(backend, q, k, v, is_causal=True, scale=scale)
                            for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.MATH))
        check(fused.isnan().any() and not math_path.isnan().any(),
              f"is_causal with a scale of {scale}: the fused kernel gives NaN, math does not")


def main():
    print("torch", torch.__version__)
    for group in (alignment_and_masks, nan_leaks, grouped_heads, fallbacks, multihead_attention, gradients,
                  causal_of_no_positive_scale):
        group()
    raise SystemExit(check.failed)


if __name__ == "__main__":
    main()
