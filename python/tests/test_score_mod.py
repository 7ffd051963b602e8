"""score_mod against NumPy, and against what the engine itself says of the same."""

import numpy
import pytest

import numpy_attention
import qkv

B, HQ, HK, TQ, TK, D, DV = 2, 4, 2, 9, 11, 8, 5
SLOPES = numpy.array([0.5, 0.25, 0.125, 0.0625])
DOCUMENTS = numpy.array([[0] * 4 + [1] * 7, [0] * 6 + [1] * 3 + [2] * 2])  # of each key; queries stand at the end


def drawn(*shapes, dtype=numpy.float64):
    random = numpy.random.default_rng(3)
    return [random.standard_normal(shape).astype(dtype) for shape in shapes]


@pytest.fixture
def inputs():
    return drawn((B, HQ, TQ, D), (B, HK, TK, D), (B, HK, TK, DV))


def capped(score, b, h, i, j):
    return 2 * numpy.tanh(score / 2)


def slope_of_capped(score, b, h, i, j):
    return 1 - numpy.tanh(score / 2) ** 2


def alibi(score, b, h, i, j):
    return score - SLOPES[h] * numpy.abs(i + (TK - TQ) - j)


def relative(score, b, h, i, j):
    return score + numpy.cos(i - j) * (h + 1) + b


def same_document(score, b, h, i, j):
    return numpy.where(DOCUMENTS[b, i + (TK - TQ)] == DOCUMENTS[b, j], score, -numpy.inf)


def expected(q, k, v, modify, scale=None):
    """By NumPy alone, all at once."""
    scores = numpy_attention.scores(q, k, scale=D**-0.5 if scale is None else scale)
    b, h, i, j = numpy.ogrid[:B, :HQ, :TQ, :TK]
    for entry in range(B):
        for head in range(HQ):
            scores[entry, head] = modify(scores[entry, head], b[entry, 0, 0, 0], h[0, head, 0, 0], i[0, 0], j[0, 0])
    weights, lse = numpy_attention.softmax(scores)
    return weights @ numpy.repeat(v, HQ // HK, axis=1), lse


@pytest.mark.parametrize("modify", [capped, alibi, relative, same_document])
def test_out_and_lse_are_those_of_numpy(inputs, modify):
    out, lse = qkv.attention(*inputs, score_mod=modify, scale=0.4, return_lse=True)
    wanted_out, wanted_lse = expected(*inputs, modify, 0.4)
    numpy.testing.assert_allclose(out, wanted_out, rtol=1e-12, atol=1e-14)
    numpy.testing.assert_allclose(lse, wanted_lse.reshape(lse.shape), rtol=1e-12, atol=1e-14)


ENGINE = {
    "softcap": (capped, {"softcap": 2.0}),
    "alibi": (alibi, {"bias": qkv.Bias.alibi(SLOPES)}),
    "documents": (same_document, {"mask": DOCUMENTS[:, None, TK - TQ :, None] == DOCUMENTS[:, None, None, :]}),
}


@pytest.mark.parametrize("modify, options", ENGINE.values(), ids=ENGINE.keys())
def test_out_and_lse_are_those_of_the_engine(inputs, modify, options):
    sinks = [0.5, -1.0, 0.0, 2.0]
    given = qkv.attention(*inputs, score_mod=modify, sinks=sinks, return_lse=True)
    wanted = qkv.attention(*inputs, sinks=sinks, return_lse=True, **options)
    for one, other in zip(given, wanted, strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_it_comes_after_the_softcap_and_the_bias_and_before_the_mask(inputs):
    options = {"softcap": 1.5, "bias": "alibi", "mask": "causal & window(4)"}
    scores = qkv.attention_stage("biased", *inputs[:2], softcap=1.5, bias="alibi")
    seen = []

    def look(score, b, h, i, j):
        seen.append(numpy.array_equal(score, scores[b, h][i, j]))
        return score.fill(7.0) or 0 * score + 3.0  # the scores that it is given are its own

    out = qkv.attention(*inputs, score_mod=look, **options)
    assert seen and all(seen)
    even = qkv.attention(numpy.zeros_like(inputs[0]), *inputs[1:], mask=options["mask"])
    numpy.testing.assert_allclose(out, even, rtol=1e-12)


def test_a_row_that_sees_nothing_is_that_of_the_engine(inputs):
    out, lse = qkv.attention(
        *inputs, score_mod=lambda score, b, h, i, j: numpy.where(i == 2, -numpy.inf, score), return_lse=True
    )
    assert not out[:, :, 2].any() and numpy.isneginf(lse[:, :, 2]).all() and numpy.isfinite(lse[:, :, 3]).all()


def test_blocks_change_nothing(inputs, monkeypatch):
    from qkv import _score

    whole = qkv.attention(*inputs, score_mod=relative)
    monkeypatch.setattr(_score, "MOST_BYTES", 8 * TK * 2)
    seen = []

    def look(score, b, h, i, j):
        seen.append(score.shape)
        return relative(score, b, h, i, j)

    assert numpy.array_equal(qkv.attention(*inputs, score_mod=look), whole)
    assert len(seen) == B * HQ * 5 and seen[:5] == [(2, TK)] * 4 + [(1, TK)]


@pytest.mark.parametrize("dtype", [numpy.float16, numpy.float32])
def test_results_have_the_type_and_the_axes_of_q(dtype):
    q, k, v = drawn((TQ, D), (TK, D), (TK, DV), dtype=dtype)
    out, lse = qkv.attention(q, k, v, score_mod=lambda score, *places: score, return_lse=True)
    assert (out.shape, out.dtype, lse.dtype) == ((TQ, DV), dtype, numpy.float32)
    exact = qkv.attention(*(x.astype(numpy.float64) for x in (q, k, v)))
    numpy.testing.assert_allclose(out, exact.astype(dtype), rtol=2 * numpy.finfo(dtype).eps)


def test_gradients_are_those_of_the_engine(inputs):
    sinks = numpy.array([0.5, -1.0, 0.0, 2.0])
    options = {"mask": "causal", "scale": 0.3, "sinks": sinks}
    out, lse = qkv.attention(*inputs, softcap=2.0, return_lse=True, **options)
    d_out, d_lse = drawn(out.shape, lse.shape)
    wanted = qkv.attention_backward(d_out, *inputs, out, lse, softcap=2.0, d_lse=d_lse, **options)
    pair = (capped, slope_of_capped)
    given = qkv.attention_backward(d_out, *inputs, out, lse, score_mod=pair, d_lse=d_lse, **options)
    for name in ("d_q", "d_k", "d_v", "d_sinks"):
        numpy.testing.assert_allclose(getattr(given, name), getattr(wanted, name), rtol=1e-10, atol=1e-12)
    some = qkv.attention_backward(d_out, *inputs, out, lse, score_mod=pair, wants=["k"], **options)
    assert some.d_q is None and some.d_v is None and some.d_sinks is None and some.d_k is not None


def test_gradients_beside_a_softcap_are_those_of_differences(inputs):
    def squared(score, b, h, i, j):
        return score * score * 0.3 - (h + 1) * 0.1 * score

    def slope(score, b, h, i, j):
        return 0.6 * score - (h + 1) * 0.1

    options = {"softcap": 1.5, "mask": "causal"}
    out, lse = qkv.attention(*inputs, score_mod=squared, return_lse=True, **options)
    (d_out,) = drawn(out.shape)
    given = qkv.attention_backward(d_out, *inputs, out, lse, score_mod=(squared, slope), **options)
    step = 1e-6
    for n, gradient in enumerate(given[:3]):
        for place in [(0, 0, 0, 0), (1, 1, 5, 3), (0, 1, 8, 2)]:
            losses = []
            for sign in (1, -1):
                moved = [x.copy() for x in inputs]
                moved[n][place] += sign * step
                losses.append((qkv.attention(*moved, score_mod=squared, **options) * d_out).sum())
            # Differences of a loss of some tens leave 1e-15 * 50 / 1e-6.
            assert gradient[place] == pytest.approx((losses[0] - losses[1]) / (2 * step), rel=1e-6, abs=1e-7)


REFUSALS = {
    "dropout": ({"dropout": 0.1}, ValueError, "attention: dropout: expected none beside score_mod"),
    "ragged": ({"ragged": ([0, 9], [0, 11])}, ValueError, "attention: ragged: expected none beside score_mod"),
    "target": (
        {"target": "scalar"},
        ValueError,
        'attention: target: expected "reference", which alone takes score_mod',
    ),
    "sinks": ({"sinks": [1.0]}, ValueError, "attention: sinks: expected 4 numbers, one for each query head, got 1"),
    "no function": ({"score_mod": 3.0}, TypeError, "attention: score_mod: expected a function of .*, got float"),
    "a shape": (
        {"score_mod": lambda *_: numpy.zeros(3)},
        ValueError,
        r"attention: score_mod: expected a function that gives what broadcasts to its scores \(9, 11\), got \(3,\)",
    ),
    "no numbers": ({"score_mod": lambda *_: "high"}, TypeError, "attention: score_mod: expected .* numbers, got <U4"),
}


@pytest.mark.parametrize("options, error, message", REFUSALS.values(), ids=REFUSALS.keys())
def test_what_does_not_go_is_refused(inputs, options, error, message):
    with pytest.raises(error, match=message):
        qkv.attention(*inputs, **{"score_mod": capped, **options})


def test_what_is_wrong_of_q_k_and_v_is_said_as_ever(inputs):
    q, k, v = inputs
    with pytest.raises(ValueError, match="attention: k"):
        qkv.attention(q, k[..., :3], v, score_mod=capped)
    with pytest.raises(ValueError, match="attention: v"):
        qkv.attention(q, k, v[:, :, :3], score_mod=capped)


def test_what_the_function_raises_is_raised_as_it_is(inputs):
    def wrong(*_):
        raise LookupError("no such head")

    with pytest.raises(LookupError, match="no such head"):
        qkv.attention(*inputs, score_mod=wrong)


def test_gradients_that_cannot_be_had_are_refused(inputs):
    out, lse = qkv.attention(*inputs, score_mod=capped, return_lse=True)
    with pytest.raises(ValueError, match="attention_backward: score_mod: expected a pair .*, got a function alone"):
        qkv.attention_backward(out, *inputs, out, lse, score_mod=capped)
    with pytest.raises(ValueError, match="attention_backward: bias: expected none beside score_mod"):
        qkv.attention_backward(out, *inputs, out, lse, score_mod=(capped, slope_of_capped), bias="alibi")
