"""Whole numbers and texts that the engine does not take, of each public function: the error names the argument, and is
none of nanobind's.
"""

import inspect
import re

import numpy
import pytest

import qkv
from qkv import insight

X = numpy.ones((1, 2, 4, 8), numpy.float32)
LSE = numpy.zeros((1, 2, 4), numpy.float32)
PROBE = qkv.Probe(X, X)
GRADIENTS = qkv.GradientProbe(X, X, X, X, X, LSE)
MODEL = qkv.Model.open("induction")
ENGLISH = qkv.Model.open("english")
TRACE = MODEL.trace("abcxyzab")
BIAS = qkv.Bias("alibi")
MASK = qkv.Mask("causal")
FREE = {"Tq": 4, "Tk": 4}
TEXT = {"model": "induction", "text": "abcxyzab"}
CHANGED = {**TEXT, "changes": ["remove 1.0"]}
# Each function with what it has to be given.
CALLED = {
    "attention": (qkv.attention, {"q": X, "k": X, "v": X}),
    "attention_backward": (qkv.attention_backward, {"q": X, "k": X, "v": X, "d_out": X, "out": X, "lse": LSE}),
    "attention_stage": (qkv.attention_stage, {"stage": "weights", "q": X, "k": X}),
    "heatmap": (qkv.heatmap, {"values": X[0, :1]}),
    "merge_attention": (qkv.merge_attention, {"parts": [(X, LSE), (X, LSE)]}),
    "set_threads": (qkv.set_threads, {"count": 1}),
    "train": (qkv.train, {"task": "copy", "directory": "nowhere"}),
    "ask": (qkv.ask, {"question": "info"}),
    "Bias": (qkv.Bias, {"text": "alibi"}),
    "Bias.array": (BIAS.array, FREE),
    "Bias.picture": (BIAS.picture, FREE),
    "Bias.t5": (qkv.Bias.t5, {"table": X[0, :, :, 0]}),
    "Bias.from_function": (qkv.Bias.from_function, {"rule": lambda *_: 0.0, **FREE}),
    "Generator": (qkv.Generator, {"seed": 1}),
    "Generator.randint": (qkv.Generator(1).randint, {"low": 0, "high": 4, "shape": (2,)}),
    "Generator.randperm": (qkv.Generator(1).randperm, {"n": 4}),
    "Mask": (qkv.Mask, {"text": "causal"}),
    "Mask.array": (MASK.array, FREE),
    "Mask.coverage": (MASK.coverage, FREE),
    "Mask.cost": (MASK.cost, FREE),
    "Mask.picture": (MASK.picture, FREE),
    "Mask.show": (MASK.show, FREE),
    "Mask.from_function": (qkv.Mask.from_function, {"rule": lambda *_: True, **FREE}),
    "Mask.causal": (qkv.Mask.causal, {}),
    "Mask.window": (qkv.Mask.window, {"width": 3}),
    "Mask.prefix": (qkv.Mask.prefix, {"length": 3}),
    "Mask.strided": (qkv.Mask.strided, {"stride": 3}),
    "Mask.dilated": (qkv.Mask.dilated, {"width": 3, "dilation": 3}),
    "Mask.global_tokens": (qkv.Mask.global_tokens, {"count": 3}),
    "Mask.blocks": (qkv.Mask.blocks, {"size": 2, "kept": numpy.ones((2, 2), bool)}),
    "Probe": (qkv.Probe, {"q": X, "k": X}),
    **{f"Probe.{name}": (getattr(PROBE, name), {}) for name in ("plot", "tile", "weights", "lse", "statistics")},
    "Probe.picture": (PROBE.picture, {}),
    "Probe.row": (PROBE.row, {"i": 0}),
    "Probe.map": (PROBE.map, {"rows": 2, "columns": 2}),
    "Probe.top_keys": (PROBE.top_keys, {"count": 2}),
    "Probe.key_totals": (PROBE.key_totals, {}),
    "GradientProbe": (qkv.GradientProbe, {"q": X, "k": X, "v": X, "d_out": X, "out": X, "lse": LSE}),
    "GradientProbe.plot": (GRADIENTS.plot, {}),
    "GradientProbe.picture": (GRADIENTS.picture, {}),
    "GradientProbe.tile": (GRADIENTS.tile, {}),
    "GradientProbe.row": (GRADIENTS.row, {"i": 0}),
    "GradientProbe.map": (GRADIENTS.map, {"rows": 2, "columns": 2}),
    "Model.open": (qkv.Model.open, {"name": "induction"}),
    "Model.__call__": (MODEL, {"text": "ab"}),
    "Model.trace": (MODEL.trace, {"text": "ab"}),
    "Model.generate": (MODEL.generate, {"prompt": "ab"}),
    "Model.stream": (lambda prompt: list(MODEL.stream(prompt)), {"prompt": "ab"}),
    "Model.embed": (ENGLISH.embed, {"texts": ["the cats are small"]}),
    "Model.match": (qkv.Model.open("towers").match, {"images": [X[0, 0]], "texts": ["a circle"]}),
    "Model.fill": (ENGLISH.fill, {"text": "the cats <be> small"}),
    "Model.show": (MODEL.show, {"live": False}),
    "Tokenizer.open": (qkv.Tokenizer.open, {"path": "induction"}),
    **{f"Tokenizer.{name}": (getattr(MODEL.tokenizer, name), {"text": "ab"}) for name in ("encode", "tokens")},
    "Tokenizer.id": (MODEL.tokenizer.id, {"piece": "a"}),
    "Tokenizer.shown": (MODEL.tokenizer.shown, {"id": 1}),
    "Trace.plot": (TRACE.plot, {"name": "blocks.0.attn.weights"}),
    "Trace.probe": (TRACE.probe, {"name": "blocks.0.attn"}),
    "change": (insight.change, CHANGED),
    "change_texts": (insight.change_texts, {"model": "induction", "changes": ["remove 1.0"]}),
    "heads": (insight.heads, {"model": "induction"}),
    "lens": (insight.lens, TEXT),
    "rollout": (insight.rollout, {**TEXT, "way": "rollout"}),
    "sweep": (insight.sweep, TEXT),
}  # fmt: skip
HALF = "a\ud800b"
# What the engine reads elsewhere, or a browser does.
ELSEWHERE = {
    "what a function gave": r"(Gap|Page|Picture|Step|Token|Trace|TrainingRun|Written|Change|Heads|Rollout)$",
    "a browser, in a notebook": r"(Probe|Trace)\.show$",
    "names of what a reply has": r"(Finding|RowStatistics|TrainingRun|Heads|Rollout|Sweep)\.\w+$",
    "a file that Python writes": r"(Page|Picture)\.save$",
    "the engine, where it is taken": r"MatrixWindow$",
    "a list": r"(Generator\.(rand|randn)|Tokenizer\.decode|Mask\.(documents|keys))$",
}
HEIGHTS = {("Model.show", "height")}  # of the browser's frame


def public_functions():
    for module in (qkv, insight):
        for name in module.__all__:
            one = getattr(module, name)
            if callable(one) and one is not qkv.Error:
                yield name, one
            for part, member in vars(one).items() if inspect.isclass(one) else []:
                is_method = callable(getattr(one, part)) and not isinstance(member, property)
                if is_method and (part == "__call__" or not part.startswith("_")):
                    yield f"{name}.{part}", getattr(one, part)


def parameters(function, kind):
    """Those that may be an int, a str or a list of them."""
    lists = r"\b(Sequence|list)\[str\]"
    for one in inspect.signature(function).parameters.values():
        annotation = str(one.annotation)
        alone = re.sub(r"\w*(tuple|Sequence|Mapping|list|Callable|NDArray)\[.*\]", "", annotation)
        if re.search(lists if kind == "texts" else rf"\b{kind}\b", annotation if kind == "texts" else alone):
            yield one.name


WHOLES = [(name, one) for name, (function, _) in CALLED.items() for one in parameters(function, "int")]
TEXTS = [(name, one, HALF) for name, (function, _) in CALLED.items() for one in parameters(function, "str")] + [
    (name, one, [HALF]) for name, (function, _) in CALLED.items() for one in parameters(function, "texts")
]


def refused(name, argument, value):
    function, given = CALLED[name]
    with pytest.raises(ValueError) as caught:
        function(**{**given, argument: value})
    assert type(caught.value) is ValueError
    return str(caught.value)


@pytest.mark.parametrize(("name", "argument"), [one for one in WHOLES if one not in HEIGHTS])
def test_a_whole_number_that_does_not_fit_is_named_with_its_bounds(name, argument):
    for value in (2**80, -(2**80)):
        said = refused(name, argument, value)
        bounds = r"a whole number (from -?\d+ to \d+|of 64 bits)"
        assert re.fullmatch(rf"\w+: {argument}: expected {bounds}, got {value}", said), said


@pytest.mark.parametrize(("name", "argument", "value"), TEXTS)
def test_text_without_utf8_is_named(name, argument, value):
    said = refused(name, argument, value)
    assert re.fullmatch(rf"\w+: {argument}: expected text that UTF-8 has, got one with half a pair of surrogates", said)


@pytest.mark.parametrize("argument", ["mask", "bias", "target"])
def test_text_of_an_option_without_utf8_is_named(argument):
    with pytest.raises(ValueError, match="expected text that UTF-8 has|expected .*, got") as caught:
        qkv.attention(X, X, X, **{argument: HALF})
    assert "incompatible" not in str(caught.value)


def test_every_public_function_with_such_an_argument_is_walked():
    known = "|".join(ELSEWHERE.values())
    missing = [
        name
        for name, one in public_functions()
        if name not in CALLED and not re.match(known, name) and name != "Generator.bernoulli"
        if any(list(parameters(one, kind)) for kind in ("int", "str", "texts"))
    ]
    assert not missing
    assert len(WHOLES) > 100 and len(TEXTS) > 80


def test_whole_numbers_of_questions_are_refused_alike():
    walked = 0
    for question, fields, _ in qkv._models.questions():
        for name, annotation, *_ in fields:
            if annotation.partition(" |")[0] != "int":
                continue
            for value in (2**80, -(2**80)):
                with pytest.raises(ValueError, match=rf": {name}: expected .*, got {value}$"):
                    qkv.ask(question, **{name: value})
                walked += 1
    assert walked > 100


def test_an_error_whose_text_is_no_utf8_is_told():
    def rule(*_):
        raise TypeError(HALF)

    with pytest.raises(TypeError) as caught:
        qkv.Mask.from_function(rule, 4, 4)
    assert str(caught.value) == HALF


SEEN = numpy.ones((4, 9), bool)
ADDED = numpy.ones((4, 9), numpy.float32)
WIDE = r"expected a shape that broadcasts to \[1, 2, 4, 4\], got \[4, 9\]$"


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("attention", lambda **terms: qkv.attention(X, X, X, **terms)),
        ("attention_backward", lambda **terms: qkv.attention_backward(X, X, X, X, X, LSE, **terms)),
        ("attention_stage", lambda **terms: qkv.attention_stage("weights", X, X, **terms)),
        ("Probe", lambda **terms: qkv.Probe(X, X, **terms)),
        ("GradientProbe", lambda **terms: qkv.GradientProbe(X, X, X, X, X, LSE, **terms)),
    ],
)
def test_masks_and_biases_are_called_by_the_argument(function, call):
    with pytest.raises(ValueError, match=f"^{function}: mask: {WIDE}"):
        call(mask=SEEN)
    with pytest.raises(ValueError, match=f"^{function}: mask: {WIDE}"):
        call(mask=qkv.Mask.dense(SEEN))
    with pytest.raises(ValueError, match=f"^{function}: bias: {WIDE}"):
        call(bias=ADDED)
    with pytest.raises(ValueError, match=f"^{function}: bias: expected dtype f64, f32, f16 or bf16, got i32$"):
        call(bias=numpy.ones((4, 4), numpy.int32))
    with pytest.raises(ValueError, match=f"^{function}: mask: lengths: expected "):
        call(mask=qkv.Mask.keys([1, 2, 3]))


def test_texts_of_a_trace_are_its_own():
    with pytest.raises(ValueError, match='^trace: text: expected a value, got ""$'):
        MODEL.trace("")
    with pytest.raises(ValueError, match="^trace: text: expected a text of at most 32 tokens"):
        MODEL.trace("a" * 100)
    with pytest.raises(ValueError, match="^trace: text: expected a piece of the vocabulary"):
        MODEL.trace("Ä")


def test_parts_to_merge_are_pairs():
    with pytest.raises(TypeError, match="^merge_attention: parts: expected a list of pairs, got tuple of 1 at 0$"):
        qkv.merge_attention([(X,)])


def test_questions_have_one_name():
    with pytest.raises(
        ValueError, match=r"^ask: question: expected one of .*, bench_variants, .*; did you mean bench_variants\?"
    ):
        qkv.ask("bench variants")
