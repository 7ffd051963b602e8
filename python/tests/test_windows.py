"""Calls on windows of a matrix against the call on all of it: results merge, gradients add up, probes show a part."""

import inspect
import pickle

import numpy
import pytest
from test_cases import is_plain, options_of, pairs, read

import qkv
import qkv_cases_of_python as cases

RNG = numpy.random.default_rng(11)
ROWS = [row for row in cases.rows() if is_plain(row) and pairs(row) < 200_000]
CHOSEN = sorted(RNG.choice(ROWS, 40, replace=False))


def cut(extent, rng):
    """(first, step) of windows that share the places of an axis: one, runs, or every n-th."""
    count = int(rng.integers(1, 4))
    if rng.random() < 0.5:
        return [slice(first, None, count) for first in range(count)]
    ends = sorted(rng.integers(0, extent + 1, count - 1))
    return [slice(begin, end) for begin, end in zip([0, *ends], [*ends, extent], strict=True)]


def window(Tq, Tk, queries, keys):
    return qkv.MatrixWindow(Tq, Tk, queries.start, queries.step or 1, keys.start, keys.step or 1)


def in_float64(row):
    given = read(row)
    q, k, v = (given[name].astype(numpy.float64) for name in ("q", "k", "v"))
    return q, k, v, options_of(given)


def cuts_of(q, k):
    Tq, Tk = q.shape[-2], k.shape[-2]
    return Tq, Tk, cut(Tq, RNG), cut(Tk, RNG)


def tolerance(lse):
    """Scores of a large scale lose digits before the softmax: those of lse."""
    return 1e-12 * max(1.0, numpy.abs(lse[numpy.isfinite(lse)]).max(initial=0))


@pytest.mark.parametrize("row", CHOSEN)
def test_parts_merge_to_the_whole(row):
    q, k, v, options = in_float64(row)
    Tq, Tk, queries, keys = cuts_of(q, k)
    out, lse = qkv.attention(q, k, v, **options, return_lse=True)
    sinks = options.pop("sinks")
    for rows in queries:
        parts = [
            qkv.attention(
                q[..., rows, :], k[..., columns, :], v[..., columns, :], **options, sinks=sinks if n == 0 else None,
                within=window(Tq, Tk, rows, columns), return_lse=True,
            )
            for n, columns in enumerate(keys)
        ]  # fmt: skip
        merged = qkv.merge_attention(parts)
        assert isinstance(merged, qkv.AttentionResult)
        numpy.testing.assert_allclose(merged.lse, lse[..., rows], rtol=1e-12, atol=tolerance(lse))
        numpy.testing.assert_allclose(merged.out, out[..., rows, :], rtol=0, atol=10 * tolerance(lse))


@pytest.mark.parametrize("row", [row for row in CHOSEN if "sinks" not in row][::3])
def test_gradients_of_windows_add_up(row):
    q, k, v, options = in_float64(row)
    Tq, Tk, queries, keys = cuts_of(q, k)
    out, lse = qkv.attention(q, k, v, **options, return_lse=True)
    d_out = RNG.standard_normal(out.shape)
    whole = qkv.attention_backward(d_out, q, k, v, out, lse, **options)
    sums = [numpy.zeros_like(one) for one in (q, k, v)]
    d_bias = [numpy.zeros_like(one) for one in whole.d_bias]
    for rows in queries:
        for columns in keys:
            d_q, d_k, d_v, d_terms, _ = qkv.attention_backward(
                d_out[..., rows, :], q[..., rows, :], k[..., columns, :], v[..., columns, :], out[..., rows, :],
                lse[..., rows], **options, within=window(Tq, Tk, rows, columns),
            )  # fmt: skip
            sums[0][..., rows, :] += d_q
            sums[1][..., columns, :] += d_k
            sums[2][..., columns, :] += d_v
            for total, one in zip(d_bias, d_terms, strict=True):
                total += one
    for mine, theirs in zip([*sums, *d_bias], [*whole[:3], *whole.d_bias], strict=True):
        size = numpy.abs(theirs).max(initial=1.0)
        numpy.testing.assert_allclose(mine, theirs, rtol=0, atol=100 * tolerance(lse) * size)


@pytest.mark.parametrize("row", CHOSEN[::4])
def test_probes_of_windows_show_a_part(row):
    q, k, v, options = in_float64(row)
    Tq, Tk, queries, keys = cuts_of(q, k)
    out, lse = qkv.attention(q, k, v, **options, return_lse=True)
    d_out = RNG.standard_normal(out.shape)
    rows, columns = queries[-1], keys[0]
    within = window(Tq, Tk, rows, columns)
    whole = qkv.Probe(q, k, lse, **options)
    part = qkv.Probe(q[..., rows, :], k[..., columns, :], lse[..., rows], **options, within=within)
    stage = qkv.attention_stage("masked", q[..., rows, :], k[..., columns, :], **options, within=within)
    gradients = qkv.GradientProbe(d_out, q, k, v, out, lse, **options)
    of_part = qkv.GradientProbe(
        d_out[..., rows, :], q[..., rows, :], k[..., columns, :], v[..., columns, :], out[..., rows, :],
        lse[..., rows], **options, within=within,
    )  # fmt: skip
    assert part.shape[2:] == q[..., rows, :].shape[-2:-1] + k[..., columns, :].shape[-2:-1]
    if 0 in part.shape:
        return
    h = part.shape[1] - 1
    same = {"rtol": 0, "atol": 10 * tolerance(lse)}
    for name in ("weights", "dropped"):
        numpy.testing.assert_allclose(part.tile(h, stage=name), whole.tile(h, stage=name)[rows, columns], **same)
    scores = whole.tile(h, stage="masked")[rows, columns]
    numpy.testing.assert_allclose(numpy.reshape(stage, part.shape)[0, h], scores, rtol=1e-12, atol=tolerance(lse))
    numpy.testing.assert_allclose(of_part.tile(h), gradients.tile(h)[rows, columns], rtol=0, atol=1e3 * tolerance(lse))


def test_what_looks_at_places_is_that_of_the_whole():
    q, k, v = (RNG.standard_normal((1, 2, 96, 16)).astype(numpy.float32) for _ in range(3))

    def rule(b, h, i, j):
        return (i - j) % (h + 2) == 0

    shown = rule(*numpy.ogrid[:1, :2, :96, :96])
    rows, columns = slice(1, None, 2), slice(32, 96)
    within = qkv.MatrixWindow(Tq=96, Tk=96, first_i=1, step_i=2, first_j=32)
    part = [q[:, :, rows], k[:, :, columns], v[:, :, columns]]
    expected = qkv.attention(*part, mask=numpy.ascontiguousarray(shown[:, :, rows, columns]))
    for mask in (rule, shown, qkv.Mask.dense(shown)):
        numpy.testing.assert_allclose(qkv.attention(*part, mask=mask, within=within), expected, rtol=1e-5, atol=1e-6)
    numpy.testing.assert_array_equal(
        qkv.attention(*part, mask="causal", within=within), qkv.attention(*part, mask="causal", within=tuple(within))
    )


def test_documents_have_windows_of_their_own():
    q, k, v = (RNG.standard_normal((2, 30, 8)) for _ in range(3))
    lengths = [(12, 7), (18, 23)]
    windows = [qkv.MatrixWindow(20, 30, first_i=5, first_j=3), qkv.MatrixWindow(18, 70, first_j=1, step_j=3)]
    options = {"ragged": ([0, 12, 30], [0, 7, 30]), "mask": "causal & window(9)", "bias": "alibi"}
    out, lse = qkv.attention(q, k, v, **options, within=windows, return_lse=True)
    gradients = qkv.attention_backward(q, q, k, v, out, lse, **options, within=windows)
    d_bias = 0
    i = j = 0
    for (Tq, Tk), within in zip(lengths, windows, strict=True):
        part = [q[:, i : i + Tq], k[:, j : j + Tk], v[:, j : j + Tk]]
        own = {"mask": "causal & window(9)", "bias": "alibi", "within": within}
        expected, own_lse = qkv.attention(*part, **own, return_lse=True)
        numpy.testing.assert_array_equal(out[:, i : i + Tq], expected)
        d_q, d_k, d_v, d_slopes, _ = qkv.attention_backward(part[0], *part, expected, own_lse, **own)
        numpy.testing.assert_array_equal(gradients.d_q[:, i : i + Tq], d_q)
        numpy.testing.assert_array_equal(gradients.d_k[:, j : j + Tk], d_k)
        numpy.testing.assert_array_equal(gradients.d_v[:, j : j + Tk], d_v)
        d_bias, i, j = d_bias + d_slopes[0], i + Tq, j + Tk
    numpy.testing.assert_allclose(gradients.d_bias[0], d_bias, rtol=1e-13, atol=1e-13)
    with pytest.raises(ValueError, match="attention: within: expected one, or one for each of 2 documents, got 3"):
        qkv.attention(q, k, v, **options, within=[*windows, windows[0]])
    with pytest.raises(ValueError, match=r"within\[1\]: expected 23 keys or more from 9 on, 3 apart, got 21"):
        qkv.attention(q, k, v, **options, within=[windows[0], windows[1]._replace(first_j=9)])
    with pytest.raises(ValueError, match="Probe: within: expected one, or with ragged one for each document, got 2"):
        qkv.Probe(q, k, within=windows)


def test_a_window_is_refused_where_it_is_made():
    for given, error, message in [
        ({"step_i": 0}, ValueError, "step_i: expected a whole number, 1 or more, got 0"),
        ({"step_j": -2}, ValueError, "step_j: expected a whole number, 1 or more, got -2"),
        ({"first_i": -1}, ValueError, "first_i: expected a whole number, 0 or more, got -1"),
        ({"Tq": -1}, ValueError, "Tq: expected a whole number, 0 or more, got -1"),
        ({"first_j": 2**63}, ValueError, "first_j: expected a whole number, 0 or more, got 9223372036854775808"),
        ({"step_i": 1.5}, TypeError, "step_i: expected a whole number, 1 or more, got 1.5"),
        ({"Tk": True}, TypeError, "Tk: expected a whole number, 0 or more, got True"),
        ({"Tk": numpy.array([1, 2])}, TypeError, "Tk: expected a whole number, 0 or more, got numpy.ndarray"),
    ]:
        with pytest.raises(error, match=f"^MatrixWindow: {message}$"):
            qkv.MatrixWindow(**{"Tq": 8, "Tk": 8, **given})
    window = qkv.MatrixWindow(numpy.int32(8), 9, first_i=2)
    assert window == (8, 9, 2, 1, 0, 1) and type(window.Tq) is int
    assert pickle.loads(pickle.dumps(window)) == window and type(window._replace(Tk=3)) is qkv.MatrixWindow
    with pytest.raises(ValueError, match="^MatrixWindow: step_j: expected"):
        window._replace(step_j=0)
    signature = inspect.signature(qkv.MatrixWindow)
    assert str(signature).startswith("(Tq: int, Tk: int, first_i: int = 0, step_i: int = 1, ")


def test_windows_say_what_is_wrong():
    q = RNG.standard_normal((8, 4))
    small = qkv.MatrixWindow(4, 8)
    for within, error, message in [
        (small, ValueError, "attention: within: expected"),
        ((8, 8), TypeError, "within: expected a MatrixWindow, or a list with one for each document, got tuple"),
        ("all", TypeError, "within: expected a MatrixWindow, or a list with one for each document, got str"),
    ]:
        with pytest.raises(error, match=message):
            qkv.attention(q, q, q, within=within)
    with pytest.raises(ValueError, match="attention: within: expected none beside score_mod"):
        qkv.attention(q, q, q, within=qkv.MatrixWindow(8, 8), score_mod=lambda score, b, h, i, j: score)
    out, lse = qkv.attention(q, q, q, return_lse=True)
    with pytest.raises(ValueError, match="merge_attention: parts: expected one or more"):
        qkv.merge_attention([])
    with pytest.raises(ValueError, match="merge_attention: parts: expected every out"):
        qkv.merge_attention([(out, lse), (out[:4], lse)])
    with pytest.raises(ValueError, match=r"merge_attention: parts\[0\].lse: expected 1 axes"):
        qkv.merge_attention([(out, out)])
