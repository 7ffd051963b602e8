"""attention() and attention_backward() against NumPy."""

import numpy
import pytest

import numpy_attention
import qkv

Tq, Tk = 16, 20


@pytest.fixture
def inputs():
    random = numpy.random.default_rng(0)
    return (
        random.standard_normal((2, 4, Tq, 8)),
        random.standard_normal((2, 2, Tk, 8)),
        random.standard_normal((2, 2, Tk, 5)),
    )


CAUSAL = numpy.arange(Tk) <= numpy.arange(Tq)[:, None] + Tk - Tq


@pytest.mark.parametrize(
    "mask", ["causal", qkv.Mask.causal(), CAUSAL, CAUSAL.astype(numpy.uint8), lambda b, h, i, j: j <= i + Tk - Tq]
)
def test_a_mask_is_a_text_a_value_an_array_or_a_function(inputs, mask):
    out, lse = qkv.attention(*inputs, mask=mask, return_lse=True)
    expected, expected_lse = numpy_attention.attention(*inputs, mask=CAUSAL)
    numpy.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-14)
    numpy.testing.assert_allclose(lse, expected_lse, rtol=1e-12)


@pytest.mark.parametrize(
    "bias",
    [
        "alibi(0.5, 0.25, 0.125, 0)",
        qkv.Bias.alibi(0.5, 0.25, 0.125, 0),
        lambda b, h, i, j: -numpy.array([0.5, 0.25, 0.125, 0])[h] * abs(i + Tk - Tq - j),
    ],
)
def test_a_bias_is_a_text_a_value_or_a_function(inputs, bias):
    slopes = numpy.array([0.5, 0.25, 0.125, 0])[:, None, None]
    distance = abs(numpy.arange(Tq)[:, None] + Tk - Tq - numpy.arange(Tk))
    expected, _ = numpy_attention.attention(*inputs, bias=-slopes * distance)
    numpy.testing.assert_allclose(qkv.attention(*inputs, bias=bias), expected, rtol=1e-12, atol=1e-14)


def test_numbers_reach_the_engine(inputs):
    options = {"scale": 0.3, "softcap": 2.0, "sinks": [0.5, -1, 2, 0]}
    expected, expected_lse = numpy_attention.attention(*inputs, **options)
    out, lse = qkv.attention(*inputs, **options, return_lse=True)
    numpy.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-14)
    numpy.testing.assert_allclose(lse, expected_lse, rtol=1e-12)


def test_dropout_is_a_function_of_its_seed(inputs):
    one = qkv.attention(*inputs, dropout=(0.5, 7))
    assert numpy.array_equal(one, qkv.attention(*inputs, dropout=(0.5, 7)))
    assert not numpy.array_equal(one, qkv.attention(*inputs, dropout=(0.5, 8)))
    assert numpy.array_equal(qkv.attention(*inputs, dropout=0.5), qkv.attention(*inputs, dropout=(0.5, 0)))


def test_documents_end_to_end_are_calls_of_their_own(inputs):
    q, k, v = (x[:1] for x in inputs)
    offsets = ([0, 6, 16], numpy.array([0, 9, 20]))
    packed = qkv.attention(q, k, v, mask="causal", ragged=offsets)
    first = qkv.attention(q[:, :, :6], k[:, :, :9], v[:, :, :9], mask="causal")
    second = qkv.attention(q[:, :, 6:], k[:, :, 9:], v[:, :, 9:], mask="causal")
    assert numpy.array_equal(packed, numpy.concatenate([first, second], axis=2))


@pytest.mark.parametrize("axes", [2, 3])
def test_axes_that_are_left_out_stay_out(inputs, axes):
    part = [x[0] if axes == 3 else x[0, 0] for x in inputs]
    whole = [x[:1] if axes == 3 else x[:1, :1] for x in inputs]
    out, lse = qkv.attention(*part, mask="causal", return_lse=True)
    expected = qkv.attention(*whole, mask="causal", return_lse=True)
    assert out.ndim == axes and lse.ndim == axes - 1
    assert numpy.array_equal(out, expected.out.reshape(out.shape))
    gradients = qkv.attention_backward(out, *part, out, lse, mask="causal")
    assert [x.shape for x in gradients[:3]] == [x.shape for x in part]


def test_gradients_are_those_of_numpy(inputs):
    d_out = numpy.random.default_rng(1).standard_normal((2, 4, Tq, 5))
    out, lse = qkv.attention(*inputs, mask="causal", return_lse=True)
    gradients = qkv.attention_backward(d_out, *inputs, out, lse, mask="causal")
    for given, expected in zip(gradients[:3], numpy_attention.gradients(d_out, *inputs, mask=CAUSAL), strict=True):
        numpy.testing.assert_allclose(given, expected, rtol=1e-10, atol=1e-13)
    assert gradients.d_bias == [] and gradients.d_sinks is None


def test_gradients_of_biases_and_sinks_come_where_they_are_wanted(inputs):
    table = numpy.zeros((Tq, Tk))
    options = {"bias": qkv.Bias.dense(table) + "alibi", "sinks": [0.0] * 4}
    out, lse = qkv.attention(*inputs, **options, return_lse=True)
    some = qkv.attention_backward(out, *inputs, out, lse, **options, wants=["bias", "sinks"])
    assert some.d_q is None and some.d_k is None and some.d_v is None
    assert [x.shape for x in some.d_bias] == [(Tq, Tk), (4,)] and some.d_sinks.shape == (4,)
    # A number added to all scores of a row is what its sink loses.
    numpy.testing.assert_allclose(some.d_bias[0].sum() + some.d_sinks.sum(), 0, atol=1e-12)


def test_a_stage_is_an_array(inputs):
    q, k, v = inputs
    expected, _ = numpy_attention.softmax(numpy_attention.scores(q, k, mask=CAUSAL))
    numpy.testing.assert_allclose(qkv.attention_stage("weights", q, k, mask="causal"), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "error, message, call",
    [
        (TypeError, "attention: q: expected an array", lambda q, k, v: qkv.attention([[1.0]], k, v)),
        (TypeError, "attention: mask: expected a Mask, a text", lambda q, k, v: qkv.attention(q, k, v, mask=3)),
        (TypeError, "attention: dropout: expected a number", lambda q, k, v: qkv.attention(q, k, v, dropout="x")),
        (TypeError, "attention: ragged: expected a pair", lambda q, k, v: qkv.attention(q, k, v, ragged=[0, 3, 4])),
        (TypeError, "gives bool, got int", lambda q, k, v: qkv.attention(q, k, v, mask=lambda b, h, i, j: i - j)),
        (ValueError, "write & | ~", lambda q, k, v: qkv.attention(q, k, v, mask=lambda b, h, i, j: i > j and True)),
        (ValueError, "did you mean `causal`", lambda q, k, v: qkv.attention(q, k, v, mask="causel")),
        (ValueError, "attention: k: expected B = 2", lambda q, k, v: qkv.attention(q, k[:1], v)),
        (ValueError, "attention: k: expected 4 axes", lambda q, k, v: qkv.attention(q, k[0], v)),
        (ValueError, "attention: q: expected \\[B, Hq, Tq, D\\]", lambda q, k, v: qkv.attention(q[0, 0, 0], k, v)),
        (ValueError, "softcap", lambda q, k, v: qkv.attention(q, k, v, softcap=-1.0)),
        (ValueError, "target", lambda q, k, v: qkv.attention(q, k, v, target="avx1")),
        (ValueError, "whole numbers", lambda q, k, v: qkv.attention(q, k, v, ragged=([0, 0.5], [0, 20]))),
        (ValueError, "expected a mask or bias whose shape", lambda q, k, v: qkv.Mask(lambda b, h, i, j: j <= i)),
        (
            ValueError,
            "wants: expected q, k, v",
            lambda q, k, v: qkv.attention_backward(q, q, k, v, q, q[..., 0], wants=["x"]),
        ),
    ],
)
def test_errors_name_the_argument(inputs, error, message, call):
    with pytest.raises(error, match=message):
        call(*inputs)


def test_errors_of_the_engine_are_runtime_errors():
    assert issubclass(qkv.Error, RuntimeError)
