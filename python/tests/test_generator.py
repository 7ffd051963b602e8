"""qkv.Generator draws PyTorch's numbers."""

import json
import pathlib

import numpy
import pytest

import qkv

FIXTURE = pathlib.Path(__file__).parents[2] / "tests" / "core" / "fixtures" / "torch_random.json"
SEQUENCES = json.loads(FIXTURE.read_text())["sequences"]
DTYPES = {"f32": "float32", "f64": "float64"}


def answer(generator, call):
    arguments = {name: value for name, value in call.items() if name not in ("call", "values")}
    if call["call"] == "bernoulli_each":
        return generator.bernoulli(numpy.array(call["p"], dtype=DTYPES[call["dtype"]]))
    if "dtype" in arguments:
        arguments["dtype"] = DTYPES[arguments["dtype"]]
    return getattr(generator, call["call"])(**arguments)


@pytest.mark.parametrize("sequence", SEQUENCES, ids=lambda one: f"{one['name']}-{one['seed']}")
def test_the_numbers_are_pytorchs(sequence):
    generator = qkv.Generator(sequence["seed"])
    for call in sequence["calls"]:
        got = answer(generator, call)
        wanted = numpy.array(call["values"], dtype=got.dtype).reshape(got.shape)
        assert got.shape == tuple(call.get("shape", got.shape))
        assert got.dtype == DTYPES.get(call.get("dtype"), "int64")
        numpy.testing.assert_allclose(got, wanted, rtol=0, atol=1e-6 if call["call"] == "randn" else 0)


def test_what_it_refuses():
    generator = qkv.Generator(0)
    with pytest.raises(ValueError, match='randn: dtype: expected "float32" or "float64", got "float16"'):
        generator.randn((2,), dtype="float16")
    with pytest.raises(ValueError, match="bernoulli: p: expected a probability from 0 to 1"):
        generator.bernoulli(1.5, (2,))
    with pytest.raises(ValueError, match="-3"):
        generator.rand((2, -3))
