"""inspect.signature() of what is compiled."""

import inspect

import numpy
import pytest

import qkv
from qkv import _models, _qkv


def functions():
    """(name, function) of both modules, and of their classes."""
    found = []
    for module in (_qkv, _models):
        for owner in [module, *(one for one in vars(module).values() if inspect.isclass(one))]:
            for name, one in vars(owner).items():
                if hasattr(one, "__nb_signature__"):
                    found.append((f"{owner.__name__}.{name}", one))
    assert len(found) > 100
    return found


def test_attention_says_what_it_takes():
    signature = inspect.signature(qkv.attention)
    assert str(signature).startswith("(q: 'object', k: 'object', v: 'object', *, mask: 'object | None' = None, ")
    assert signature.parameters["return_lse"].default is False
    assert signature.bind(1, 2, 3, scale=0.5).arguments == {"q": 1, "k": 2, "v": 3, "scale": 0.5}
    with pytest.raises(TypeError, match="unexpected keyword argument 'scales'"):
        signature.bind(1, 2, 3, scales=0.5)


@pytest.mark.parametrize(("name", "function"), functions(), ids=lambda one: one if isinstance(one, str) else "")
def test_each_function_has_one(name, function):
    if len(function.__nb_signature__) > 1:
        with pytest.raises(ValueError, match="no signature found"):
            inspect.signature(function)
        return
    signature = inspect.signature(function)
    text = function.__nb_signature__[0][0]
    assert all(f"{one.name}: " in text for one in signature.parameters.values() if one.name != "self"), name


def test_defaults_are_those_of_the_call():
    width = inspect.signature(qkv.Mask.array).parameters["B"]
    assert (width.default, width.annotation) == (1, "int")
    assert inspect.signature(qkv.Mask.causal).parameters["align"].default == "bottom_right"
    lengths = inspect.signature(qkv.Mask.documents).parameters["lengths"]
    assert lengths.kind is inspect.Parameter.VAR_POSITIONAL


def test_methods_and_classes_leave_out_self():
    x = numpy.ones((1, 1, 2, 4), numpy.float32)
    assert list(inspect.signature(qkv.Probe.row).parameters) == ["self", "i", "h", "b", "stage"]
    assert list(inspect.signature(qkv.Probe(x, x).row).parameters) == ["i", "h", "b", "stage"]
    assert list(inspect.signature(qkv.Generator).parameters) == ["seed"]


def test_a_class_derived_from_one_has_its_own():
    class Seeded(qkv.Generator):
        def __init__(self, first, second):
            super().__init__(first + second)

    assert list(inspect.signature(Seeded).parameters) == ["first", "second"]
