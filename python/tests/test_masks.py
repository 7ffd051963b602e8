"""Masks, biases and probes as values."""

import copy
import pickle

import numpy
import pytest

import numpy_attention
import qkv

WORDS = {
    "all": qkv.Mask.all(),
    "none": qkv.Mask.none(),
    "causal": qkv.Mask.causal(),
    "causal(offset=2)": qkv.Mask.causal(2),
    "causal(offset=[1, 0])": qkv.Mask.causal([1, 0]),
    "causal(top_left)": qkv.Mask.causal(align="top_left"),
    "window(3)": qkv.Mask.window(3),
    "window(left=3, right=1)": qkv.Mask.window(left=3, right=1),
    "window(left=2)": qkv.Mask.window(left=2),
    "prefix(3)": qkv.Mask.prefix(3),
    "documents(3, 5)": qkv.Mask.documents(3, 5),
    "keys(6)": qkv.Mask.keys(6),
    "keys(6, 3)": qkv.Mask.keys([6, 3]),
    "strided(3)": qkv.Mask.strided(3),
    "dilated(2, 2)": qkv.Mask.dilated(2, 2),
    "global(1)": qkv.Mask.global_tokens(1),
    "global(at=[0, 5])": qkv.Mask.global_tokens(at=[0, 5]),
    "blocks(4, [[1, 0], [1, 1]])": qkv.Mask.blocks(4, numpy.array([[True, False], [True, True]])),
    "dense([1, 1, 0, 0, 1, 1, 0, 0])": qkv.Mask.dense(numpy.array([1, 1, 0, 0, 1, 1, 0, 0], bool)),
}


@pytest.mark.parametrize("text", WORDS)
def test_each_word_has_a_constructor(text):
    assert str(WORDS[text]) == str(qkv.Mask(text))
    assert numpy.array_equal(WORDS[text].array(8, 8, B=2), qkv.Mask(text).array(8, 8, B=2))


def test_masks_combine():
    a, b = qkv.Mask.causal(), qkv.Mask.window(2)
    x, y = a.array(6, 8), b.array(6, 8)
    for mask, expected in [(a & b, x & y), (a | b, x | y), (~a, ~x), (a & "window(2)", x & y), ("causal" | b, x | y)]:
        assert numpy.array_equal(mask.array(6, 8), expected)
    assert repr(a & b) == 'qkv.Mask("causal & window(2)")'
    with pytest.raises(TypeError):
        a & 3
    assert qkv.Mask.causal().coverage(4, 4) == 10 / 16


def test_masks_and_biases_combine_with_arrays():
    hidden = numpy.ones((6, 8), bool)
    hidden[:, 3] = False
    mask = qkv.Mask.window(2)
    near = mask.array(6, 8)
    for combined, expected in [
        (mask & hidden, near & hidden),
        (hidden & mask, near & hidden),
        (mask | hidden, near | hidden),
        (hidden | ~mask, hidden | ~near),
    ]:
        assert numpy.array_equal(combined.array(6, 8)[0, 0], expected.reshape(6, 8))
    added = numpy.arange(48.0).reshape(6, 8)
    alibi = qkv.Bias.alibi()
    for total in (alibi + added, added + alibi):
        assert numpy.array_equal(total.array(6, 8), alibi.array(6, 8) + added)
    with pytest.raises(ValueError, match="Mask: mask: expected dtype b8 or u8, got f64"):
        mask & added


def test_masks_and_biases_are_copied_and_masks_pickled():
    mask = qkv.Mask.causal() & "window(3)" | qkv.Mask.documents(2, 4)
    for value in (mask, qkv.Bias.alibi()):
        assert copy.copy(value) is value and copy.deepcopy([value])[0] is value
    read = pickle.loads(pickle.dumps(mask))
    assert str(read) == str(mask) and numpy.array_equal(read.array(6, 6), mask.array(6, 6))
    stored = qkv.Mask(numpy.eye(64, dtype=bool))
    with pytest.raises(TypeError, match="pickle: expected a mask whose text says it all, got .*; pickle its array"):
        pickle.dumps(stored)


def test_a_function_is_called_once_with_places():
    calls = []

    def rule(b, h, i, j):
        calls.append([x.shape for x in (b, h, i, j)])
        return (j <= i) | (h == 1)

    mask = qkv.Mask.from_function(rule, 5, 6, B=2, H=3)
    assert calls == [[(2, 1, 1, 1), (1, 3, 1, 1), (1, 1, 5, 1), (1, 1, 1, 6)]]
    expected = (numpy.arange(6) <= numpy.arange(5)[:, None]) | (numpy.arange(3) == 1)[:, None, None]
    assert numpy.array_equal(mask.array(5, 6, B=2, H=3), numpy.broadcast_to(expected, (2, 3, 5, 6)))


def test_biases_add():
    table = numpy.random.default_rng(0).standard_normal((4, 2))
    for text, bias in {
        "alibi": qkv.Bias.alibi(),
        "alibi(0.5, 0.25)": qkv.Bias.alibi(0.5, 0.25),
        "alibi(1, 2)": qkv.Bias.alibi([1, 2]),
        "zero": qkv.Bias.zero(),
        "dense([0.5, 0, 0, -1])": qkv.Bias.dense(numpy.array([0.5, 0, 0, -1])),
        f"t5(table={table.tolist()}, max_distance=8)": qkv.Bias.t5(table, max_distance=8),
    }.items():
        assert numpy.array_equal(bias.array(4, 4, H=2), qkv.Bias(text).array(4, 4, H=2)), text
    total = qkv.Bias.alibi(1.0) + "dense([1, 0, 0, 0])"
    assert [str(term) for term in total.terms()] == ["alibi(1)", "dense([1, 0, 0, 0])"]
    assert numpy.array_equal(total.array(4, 4), qkv.Bias.alibi(1.0).array(4, 4) + numpy.array([1, 0, 0, 0]))


class TestProbe:
    T = 70

    @pytest.fixture
    def inputs(self):
        random = numpy.random.default_rng(0)
        return [random.standard_normal((2, 4, self.T, 8)), random.standard_normal((2, 2, self.T, 8))]

    @pytest.fixture
    def weights(self, inputs):
        mask = numpy.tri(self.T, dtype=bool)
        return numpy_attention.softmax(numpy_attention.scores(*inputs, mask=mask))[0]

    @pytest.fixture
    def probe(self, inputs):
        return qkv.Probe(*inputs, mask="causal")

    def test_weights_are_those_of_numpy(self, probe, weights):
        assert probe.shape == (2, 4, self.T, self.T) and repr(probe) == "qkv.Probe(B=2, Hq=4, Tq=70, Tk=70)"
        numpy.testing.assert_allclose(probe.weights(h=3, b=1), weights[1, 3], rtol=1e-10, atol=1e-15)
        part = probe.weights(h=1, queries=slice(60, None), keys=(3, 9))
        numpy.testing.assert_allclose(part, weights[0, 1, 60:, 3:9], rtol=1e-10, atol=1e-15)
        numpy.testing.assert_allclose(probe.row(69, h=2), weights[0, 2, 69], rtol=1e-10, atol=1e-15)

    def test_maps_totals_and_keys(self, probe, weights):
        maps = probe.map(7, 7)
        cells = weights[0].reshape(4, 7, 10, 7, 10)
        numpy.testing.assert_allclose(maps.mean, cells.mean(axis=(2, 4)), rtol=1e-10, atol=1e-15)
        numpy.testing.assert_allclose(maps.largest, cells.max(axis=(2, 4)), rtol=1e-10, atol=1e-15)
        assert maps.visible[0, 0, 0] == 0.55 and maps.visible[0, 6, 0] == 1
        mean = probe.map(7, 7, heads=[0, 1], of="mean")
        numpy.testing.assert_allclose(mean.mean, cells[:2].mean(axis=(0, 2, 4))[None], rtol=1e-10, atol=1e-15)
        numpy.testing.assert_allclose(probe.key_totals(h=1), weights[0, 1].sum(axis=0), rtol=1e-10)
        top = probe.top_keys(3, h=1)
        assert top.keys.shape == (self.T, 3) and top.keys[69, 0] == weights[0, 1, 69].argmax()

    def test_statistics(self, probe, weights):
        statistics = probe.statistics(h=1)
        w = weights[0, 1]
        entropy = -(w * numpy.log(numpy.where(w > 0, w, 1))).sum(axis=1)
        numpy.testing.assert_allclose(statistics.entropy, entropy, rtol=1e-9, atol=1e-12)
        assert (statistics.visible == numpy.arange(1, self.T + 1)).all()
        assert statistics.mean("entropy") == pytest.approx(entropy.mean())

    def test_some_queries_keep_their_places(self, probe, weights):
        few = probe.of_queries(slice(0, None, 10))
        assert few.shape == (2, 4, 7, 70)
        numpy.testing.assert_allclose(few.weights(h=1), weights[0, 1, ::10], rtol=1e-10, atol=1e-15)

    def test_a_probe_keeps_its_arrays_alive(self):
        x = numpy.random.default_rng(0).standard_normal((1, 1, 20, 4))
        kept = qkv.Probe(x.copy(), x.copy()).of_queries((0, 10))
        numpy.testing.assert_array_equal(kept.weights(), qkv.Probe(x, x).weights(queries=(0, 10)))

    def test_errors(self, probe):
        with pytest.raises(ValueError, match="expected 0 to 69, got 70"):
            probe.row(70)
        with pytest.raises(ValueError, match="stage: expected raw, scaled"):
            probe.tile(stage="weight")
        with pytest.raises(TypeError, match="queries: expected a slice or a pair"):
            probe.weights(queries=3)

    def test_gradients(self, inputs, weights):
        q, k = inputs
        d_out = numpy.random.default_rng(1).standard_normal((2, 4, self.T, 8))
        out, lse = qkv.attention(q, k, k, mask="causal", return_lse=True)
        probe = qkv.GradientProbe(d_out, q, k, k, out, lse, mask="causal")
        d_w = d_out[0, 1] @ k[0, 0].T
        w = weights[0, 1]
        d_s = w * (d_w - (w * d_w).sum(axis=1, keepdims=True))
        numpy.testing.assert_allclose(probe.tile(h=1), d_s, rtol=1e-9, atol=1e-12)
        numpy.testing.assert_allclose(probe.row(5, h=1), d_s[5], rtol=1e-9, atol=1e-12)
        sizes = numpy.abs(d_s).reshape(7, 10, 7, 10).mean(axis=(1, 3))
        numpy.testing.assert_allclose(probe.map(7, 7, heads=[1]).mean[0], sizes, rtol=1e-9, atol=1e-12)
