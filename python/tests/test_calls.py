"""Calls refused before the engine sees them: messages name the argument, what was expected and what came."""

import inspect

import numpy
import pytest

import qkv

X = numpy.ones((1, 2, 4, 8), numpy.float32)
PROBE = qkv.Probe(X, X)
DRAWN = qkv.Generator(1)


@pytest.fixture(scope="module")
def gpt():
    return qkv.Model.open("gpt")


def attention(**options):
    return qkv.attention(X, X, X, **options)


WRONG_TYPES = {
    "attention: threads: expected a whole number or None, got 1.0": lambda: attention(threads=1.0),
    "attention: scale: expected a number or None, got '1'": lambda: attention(scale="1"),
    "attention: return_lse: expected True or False, got 1": lambda: attention(return_lse=1),
    "attention: q: expected an array, got None": lambda: qkv.attention(None, X, X),
    "attention: v: expected an array, got nothing": lambda: qkv.attention(X, X),
    "attention: expected at most 3 arguments without a name (q, k, v), got 4": lambda: qkv.attention(X, X, X, X),
    "attention: k: expected one value, got two": lambda: qkv.attention(X, X, X, k=X),
    "attention_backward: wants: expected a list of texts or None, got 1 at 0": lambda: qkv.attention_backward(
        X, X, X, X, X, X[..., 0], wants=[1]
    ),
    "Probe: q: expected an array, got None": lambda: qkv.Probe(None, X),
    "Probe: threads: expected a whole number or None, got 2.5": lambda: qkv.Probe(X, X, threads=2.5),
    "GradientProbe: lse: expected an array, got None": lambda: qkv.GradientProbe(X, X, X, X, X, None),
    "row: i: expected a whole number, got 1.5": lambda: PROBE.row(1.5),
    "map: columns: expected a whole number, got nothing": lambda: PROBE.map(2),
    "map: heads: expected a list of whole numbers or None, got 'a' at 1": lambda: PROBE.map(2, 2, heads=[1, "a"]),
    "map: of: expected 'each' or 'mean', got 3": lambda: PROBE.map(2, 2, of=3),
    "tile: stage: expected a stage, such as 'weights', got 5": lambda: PROBE.tile(stage=5),
    "Generator: seed: expected a whole number, got 1.5": lambda: qkv.Generator(1.5),
    "randn: shape: expected a list of whole numbers, got 2.5 at 0": lambda: DRAWN.randn((2.5,)),
    "bernoulli: p: expected a number, got nothing": lambda: DRAWN.bernoulli(),
    "bernoulli: p: expected a number, got 'x'": lambda: DRAWN.bernoulli("x", (2,)),
    "causal: align: expected 'bottom_right' or 'top_left', got 3": lambda: qkv.Mask.causal(align=3),
    "dense: visible: expected an array, got None": lambda: qkv.Mask.dense(None),
    "array: Tk: expected a whole number, got nothing": lambda: qkv.Mask("causal").array(2),
    "heatmap: decimals: expected a whole number, got 1.5": lambda: qkv.heatmap(X[0], decimals=1.5),
    "heatmap: rows: expected a list of texts, got int": lambda: qkv.heatmap(X[0], rows=5),
    "train: task: expected a text, got 5": lambda: qkv.train(5),
    "lens: text: expected a text, got 5": lambda: qkv.insight.lens("induction", 5),
    "heads: count: expected a whole number from 1 to 100000, got 1.5": lambda: qkv.insight.heads(
        "induction", count=1.5
    ),
    "heads: model: expected a qkv.Model, or a name or path, got 5": lambda: qkv.insight.heads(5),
}
OUTSIDE = {
    "attention: threads: expected a whole number from 1 to 65536, got 2147483648": lambda: attention(threads=2**31),
    "attention: threads: expected a whole number from 1 to 65536, got 65537": lambda: attention(threads=65537),
    "attention: threads: expected a whole number from 1 to 65536, got 0": lambda: attention(threads=0),
    "attention: scale: expected a number that a float holds, got 1000": lambda: attention(scale=10**400),
    "attention: scale: expected a number that a float holds, got a whole number of": lambda: attention(scale=10**5000),
    "set_threads: count: expected a whole number from 1 to 65536, got 1000000": lambda: qkv.set_threads(10**6),
    "set_threads: count: expected a whole number from 1 to 65536, got 99999999999": lambda: qkv.set_threads(
        99999999999
    ),
    "Generator: seed: expected a whole number from 0 to 18446744073709551615, got -1": lambda: qkv.Generator(-1),
    "row: i: expected a whole number of 64 bits, got 9223372036854775808": lambda: PROBE.row(2**63),
}


@pytest.mark.parametrize("message", WRONG_TYPES)
def test_wrong_types_are_named(message):
    with pytest.raises(TypeError) as caught:
        WRONG_TYPES[message]()
    assert str(caught.value).startswith(message) and type(caught.value) is TypeError


@pytest.mark.parametrize("message", OUTSIDE)
def test_numbers_outside_of_their_range_are_named(message):
    with pytest.raises(ValueError) as caught:
        OUTSIDE[message]()
    assert str(caught.value).startswith(message)


def test_words_that_there_are_not_are_named():
    with pytest.raises(TypeError, match=r"attention: causal: expected the name of an argument: q, k, .*, got True$"):
        attention(causal=True)
    with pytest.raises(TypeError, match=r"attention: softcp: .*, got 3; did you mean softcap\?$"):
        attention(softcp=3)


DRAWING = {
    "tokens: expected a whole number from 0 to 1048576, got 2000000000.0": {"tokens": 2e9},
    "tokens: expected a whole number from 0 to 1048576, got 1000000000000": {"tokens": 10**30},
    "tokens: expected a whole number from 0 to 1048576, got 9223372036854775808": {"tokens": 2**63},
    "seed: expected a whole number from 0 to 18446744073709551615, got -1": {"seed": -1},
    "stop: expected a list of texts, got 5": {"stop": 5},
    "stop: expected a list of texts, got 5 at 0": {"stop": [5]},
    'stop: expected a value, got ""': {"stop": [""]},
    "beams: expected a whole number from 1 to 1024, got 0": {"beams": 0},
}


@pytest.mark.parametrize("message", DRAWING)
def test_generate_names_its_arguments(gpt, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        gpt.generate("The cat", **{"tokens": 2, **DRAWING[message]})
    assert str(caught.value).startswith(f"generate: {message}")


def test_models_name_their_arguments(gpt):
    for call, message in [
        (lambda: gpt.generate(5), "generate: prompt: expected a list of texts, got 5"),
        (lambda: gpt.generate(["a", 5]), "generate: prompt: expected a list of texts, got 5 at 1"),
        (lambda: gpt.embed("a", normalise=3), "embed: normalise: expected true or false, got 3"),
        (lambda: gpt.trace("a", answer=1.5), "trace: answer: expected a whole number or None, got 1.5"),
        (lambda: gpt("a", answer="x"), "Model: answer: expected a whole number or None, got 'x'"),
        (lambda: gpt.tokenizer.encode(5), "encode: text: expected a text, got 5"),
        (lambda: gpt.tokenizer.tokens(5), "encode: text: expected a text, got 5"),
        (lambda: gpt.tokenizer.shown("a"), "shown: id: expected a whole number, got 'a'"),
        (lambda: gpt.tokenizer.id(5), "id: piece: expected a text, got 5"),
    ]:
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == message


def test_errors_of_the_engine_have_the_names_of_python(gpt):
    for call, message in [
        (lambda: attention(mask="foo"), "attention: mask: column 1: expected a mask"),
        (lambda: attention(bias="x"), "attention: bias: column 1: expected a bias"),
        (lambda: qkv.Bias.dense(X > 0), "dense: values: expected dtype"),
        (lambda: qkv.Mask.keys([]), "keys: lengths: expected one length or more, got none"),
        (lambda: gpt.trace(ids=[10**6]), "trace: ids: expected ids from 0 to 7999, got 1000000"),
        (lambda: gpt.generate(""), "generate: prompt"),
    ]:
        with pytest.raises(ValueError) as caught:
            call()
        assert str(caught.value).startswith(message)


def test_a_call_that_is_right_is_as_before():
    assert attention(threads=numpy.int64(2), scale=2).shape == X.shape
    assert type(qkv.attention).__name__ == "nb_func" and inspect.getdoc(qkv.attention)
    assert (qkv.Mask("causal") & "window(2)").array(2, 2).any()
    with pytest.raises(TypeError, match="unsupported operand"):
        qkv.Mask("causal") & 5
