#!/usr/bin/env python3
"""Checks what docs/semantics.md says of ONNX's Attention by its reference evaluator. Wants onnx; written against 1.23.2."""

import numpy as np
import onnx
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info
from onnx.reference import ReferenceEvaluator

rng = np.random.default_rng(0)
Tq, Tk, D = 3, 5, 4
q, k, v = (rng.standard_normal((1, 1, T, D)).astype(np.float32) for T in (Tq, Tk, Tk))
i, j = np.arange(Tq)[:, None], np.arange(Tk)[None]


def check(holds, claim):
    print(("ok    " if holds else "WRONG ") + claim)
    check.failed = check.failed or not holds


check.failed = False


def run(opset, mask=None, past=None, lengths=None, **attributes):
    """Y of one head, [Tq, D]."""
    given = {"Q": q, "K": k, "V": v, "attn_mask": mask, "past_key": past, "past_value": past, "nonpad_kv_seqlen": lengths}
    names = [name if value is not None else "" for name, value in given.items()]
    while not names[-1]:
        names.pop()
    node = make_node("Attention", names, ["Y"], **attributes)
    types = {np.dtype(np.float32): onnx.TensorProto.FLOAT, np.dtype(bool): onnx.TensorProto.BOOL,
             np.dtype(np.int64): onnx.TensorProto.INT64}
    inputs = [make_tensor_value_info(name, types[x.dtype], x.shape) for name, x in given.items() if x is not None]
    graph = make_graph([node], "one", inputs, [make_tensor_value_info("Y", onnx.TensorProto.FLOAT, None)])
    model = make_model(graph, opset_imports=[make_opsetid("", opset)])
    return ReferenceEvaluator(model).run(None, {n: x for n, x in given.items() if x is not None})[0][0, 0]


def attention(seen, keys=k, values=v):
    """In NumPy; zeros where a row sees nothing."""
    scores = np.where(seen, (q @ keys.swapaxes(2, 3))[0, 0] / np.sqrt(D), -np.inf)
    top = scores.max(1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = powers.sum(1, keepdims=True)
    return powers / np.where(total == 0, 1, total) @ values[0, 0]


def near(a, b):
    return np.allclose(a, b, atol=1e-5)


def alignment():
    check(near(run(24, is_causal=1), attention(j <= i)), "24: is_causal is top-left")
    lengths = np.array([4], np.int64)
    check(near(run(24, is_causal=1, lengths=lengths), attention((j < 4) & (j <= i + 4 - Tq))),
          "24: with nonpad_kv_seqlen, is_causal ends at the last key that counts")
    short = np.ones((Tq, 3), bool)
    check(near(run(24, mask=short), attention(j < 3)), "24: columns that a mask lacks are hidden")


def scales():
    with np.errstate(invalid="ignore"):
        check(np.isfinite(run(24, scale=0.0)).all() and np.isnan(run(24, scale=-0.5)).all(),
              "24: a scale of 0 is a scale, one below is NaN")


def windows():
    for left, right in ((1, 0), (0, 2), (2, -1), (-1, 1)):
        seen = ((i - left <= j) | (left < 0)) & ((j <= i + right) | (right < 0))
        sides = {"left_window_size": left, "right_window_size": right}
        check(near(run(25, **sides), attention(seen)), f"25: a window of {left}, {right} is inclusive, -1 no bound")
        check(near(run(25, is_causal=1, **sides), attention(seen & (j <= i))), f"25: {left}, {right} beside is_causal: both")
    past = rng.standard_normal((1, 1, 2, D)).astype(np.float32)
    keys, values = np.concatenate((past, k), 2), np.concatenate((past, v), 2)
    j_all = np.arange(Tk + 2)[None]
    check(near(run(25, past=past, left_window_size=1, right_window_size=0),
               attention((i + 2 - 1 <= j_all) & (j_all <= i + 2), keys, values)), "25: positions count the past")
    lengths = np.array([4], np.int64)
    offset = 4 - Tq
    check(near(run(25, lengths=lengths, left_window_size=1),
               attention((j < 4) & ~(j <= i + offset - 1 - 1))),
          "25: with nonpad_kv_seqlen, a left side L is !causal(top_left, offset=o-L-1)")


def masks_of_one_row():
    row = np.zeros((1, Tk), np.float32)
    causal, first = attention(j <= i), attention(np.broadcast_to(j <= 0, (Tq, Tk)))
    check(near(run(25, mask=row, is_causal=1), first) and not near(first, causal),
          "causal without a window: a mask of one row gives every query the frontier of query 0")
    try:
        run(25, mask=row[0], is_causal=1)
        check(False, "causal without a window: a mask of rank 1 raises")
    except Exception:  # noqa: BLE001: whatever it is
        check(True, "causal without a window: a mask of rank 1 raises")
    check(near(run(25, mask=row, is_causal=1, left_window_size=Tk), causal), "with a window, a mask of one row broadcasts")


def main():
    print("onnx", onnx.__version__)
    for group in (alignment, scales, windows, masks_of_one_row):
        group()
    raise SystemExit(check.failed)


if __name__ == "__main__":
    main()
