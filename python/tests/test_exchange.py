"""Arrays of other libraries: those of array-api-strict, which has what the standard names, and edges of DLPack."""

import array_api_strict
import ml_dtypes
import numpy
import pytest

import qkv


def numbers(*shape, seed=0, dtype=numpy.float32):
    return numpy.random.default_rng(seed).standard_normal(shape).astype(dtype)


def strict(x):
    return array_api_strict.asarray(x)


class Only:
    """A NumPy array of which nothing but DLPack is seen."""

    def __init__(self, x):
        self.x = x

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.x.__dlpack__(**options)


class TestArrayApi:
    @pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
    def test_arrays_come_back_as_arrays(self, dtype):
        x = numbers(2, 3, 9, 8, dtype=dtype)
        out, lse = qkv.attention(*[strict(x)] * 3, mask="causal", return_lse=True)
        assert type(out) is type(lse) is type(strict(x)) and out.dtype == strict(x).dtype
        for given, wanted in zip((out, lse), qkv.attention(x, x, x, mask="causal", return_lse=True), strict=True):
            assert numpy.array_equal(numpy.from_dlpack(given), wanted)

    def test_the_other_arguments_are_read(self):
        x, visible, added = numbers(1, 2, 5, 8), numpy.tril(numpy.ones((5, 5), bool)), numbers(5, 5, seed=1)
        sinks, offsets = numpy.array([0.5, 1.0]), numpy.array([0, 2, 5])
        mask, bias = qkv.Mask(strict(visible)), qkv.Bias(strict(added))
        out = qkv.attention(x, x, x, mask=mask, bias=bias, sinks=strict(sinks))
        assert numpy.array_equal(out, qkv.attention(x, x, x, mask=visible, bias=added, sinks=sinks))
        packed = qkv.attention(x, x, x, ragged=(strict(offsets), strict(offsets)))
        assert numpy.array_equal(packed, qkv.attention(x, x, x, ragged=(offsets, offsets)))

    def test_gradients_come_back_as_arrays(self):
        x = numbers(1, 2, 5, 8)
        out, lse = qkv.attention(x, x, x, return_lse=True)
        wanted = qkv.attention_backward(out, x, x, x, out, lse, bias=numbers(5, 5))
        given = qkv.attention_backward(*(strict(y) for y in (out, x, x, x, out, lse)), bias=strict(numbers(5, 5)))
        for one, other in zip((*given[:3], *given.d_bias), (*wanted[:3], *wanted.d_bias), strict=True):
            assert type(one) is type(strict(x)) and numpy.array_equal(numpy.from_dlpack(one), other)

    def test_probes_read_them(self):
        x = numbers(1, 2, 5, 8)
        given = qkv.Probe(strict(x), strict(x), mask="causal").weights(1)
        assert numpy.array_equal(given, qkv.Probe(x, x, mask="causal").weights(1))

    def test_other_element_types_are_refused(self):
        x = array_api_strict.ones((1, 1, 2, 4), dtype=array_api_strict.int32)
        with pytest.raises(ValueError, match="attention: q: expected "):
            qkv.attention(x, x, x)


def frozen(x):
    x.flags.writeable = False
    return x


LAYOUTS = {
    "dense": numbers(2, 3, 9, 8),
    "read-only": frozen(numbers(2, 3, 9, 8)),
    "all axes reversed": numbers(2, 3, 9, 8)[::-1, ::-1, ::-1, ::-1],
    "token-major": numbers(2, 9, 3, 8).swapaxes(1, 2),
    "every second row and column": numbers(2, 3, 18, 16)[:, :, ::2, 1::2],
    "one number for all": numpy.broadcast_to(numbers(1), (2, 3, 9, 8)),
    "one head for all": numpy.broadcast_to(numbers(2, 1, 9, 8), (2, 3, 9, 8)),
    "no tokens": numbers(2, 3, 0, 8),
    "no batch": numbers(0, 3, 9, 8)[:, :, ::-1],
    "one token, of odd strides": numbers(2, 3, 5, 8)[:, :, 4:5],
}


@pytest.mark.parametrize("wrapped", [lambda x: x, Only, strict], ids=["numpy", "DLPack alone", "array-api-strict"])
@pytest.mark.parametrize("x", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_layouts_change_nothing(x, wrapped):
    dense = numpy.array(x, order="C")
    out, lse = qkv.attention(*[wrapped(x)] * 3, return_lse=True)
    wanted_out, wanted_lse = qkv.attention(dense, dense, dense, return_lse=True)
    assert numpy.array_equal(numpy.from_dlpack(out), wanted_out)
    gradients = qkv.attention_backward(wrapped(x), *[wrapped(x)] * 3, wrapped(wanted_out), wrapped(wanted_lse))
    wanted = qkv.attention_backward(dense, dense, dense, dense, wanted_out, wanted_lse)
    for one, other in zip(gradients[:3], wanted[:3], strict=True):
        assert numpy.array_equal(numpy.from_dlpack(one), other)


@pytest.mark.parametrize("wrapped", [lambda x: x, Only, strict], ids=["numpy", "DLPack alone", "array-api-strict"])
def test_layouts_of_masks_and_biases_change_nothing(wrapped):
    x, visible, added = numbers(1, 2, 6, 8), numbers(2, 12, 12) > 0, numbers(2, 12, 12, seed=1)
    for cut in (numpy.s_[:, ::2, ::2], numpy.s_[::-1, 5::-1, 11:5:-1], numpy.s_[:, 3:9, 2:8]):
        plain = qkv.attention(x, x, x, mask=visible[cut].copy(), bias=added[cut].copy())
        assert numpy.array_equal(qkv.attention(x, x, x, mask=wrapped(visible[cut]), bias=wrapped(added[cut])), plain)


def test_what_is_not_there_has_no_elements():
    nothing, x = numbers(0, 8), numbers(3, 8)
    assert qkv.attention(Only(nothing), Only(x), Only(x)).shape == (0, 8)
    assert not qkv.attention(Only(x), Only(nothing), Only(nothing)).any()
    assert not qkv.attention(Only(x), Only(x), Only(x), mask=Only(numpy.zeros((3, 3), bool))).any()


def test_numbers_without_axes_are_no_arrays_of_attention():
    for x in (numpy.float32(1), numpy.zeros((), numpy.float32), Only(numpy.zeros((), numpy.float32))):
        with pytest.raises(ValueError, match=r"attention: q: expected \[B, Hq, Tq, D\].*got \[\]"):
            qkv.attention(x, x, x)
    row = numbers(8)
    with pytest.raises(ValueError, match=r"attention: q: expected .* got \[8\]"):
        qkv.attention(row, row, row)


def test_bits_of_bfloat16_are_not_taken_for_numbers():
    x = numbers(2, 4).astype(ml_dtypes.bfloat16)
    with pytest.raises(ValueError, match="attention: q"):
        qkv.attention(*[x.view(numpy.uint16)] * 3)
    assert qkv.attention(x, x, x).dtype == ml_dtypes.bfloat16


class Elsewhere:
    """What an array on a GPU says of itself."""

    def __dlpack_device__(self):
        return (2, 1)

    def __dlpack__(self, **options):
        raise AssertionError("its elements are out of reach")


ARGUMENTS = {
    "attention: k": lambda x, far: qkv.attention(x, far, x),
    "attention: v": lambda x, far: qkv.attention(x, x, far),
    "attention: mask": lambda x, far: qkv.attention(x, x, x, mask=far),
    "attention: bias": lambda x, far: qkv.attention(x, x, x, bias=far),
    "attention: sinks": lambda x, far: qkv.attention(x, x, x, sinks=far),
    "attention: ragged": lambda x, far: qkv.attention(x, x, x, ragged=(far, far)),
    "attention_backward: d_out": lambda x, far: qkv.attention_backward(far, x, x, x, x, x[..., 0]),
    "attention_backward: lse": lambda x, far: qkv.attention_backward(x, x, x, x, x, far),
    "Probe: k": lambda x, far: qkv.Probe(x, far),
    "dense: visible": lambda x, far: qkv.Mask.dense(far),
}


@pytest.mark.parametrize("name, call", ARGUMENTS.items(), ids=ARGUMENTS.keys())
def test_each_argument_on_a_gpu_is_refused_with_what_to_do(name, call):
    with pytest.raises(
        ValueError, match=rf"{name}: expected an array in the processor's memory, got one on CUDA \(device 1\).*cpu\(\)"
    ):
        call(numbers(1, 2, 3, 4), Elsewhere())


def test_a_library_that_refuses_is_named():
    class Refuses(Only):
        def __dlpack__(self, **options):
            raise BufferError("not today")

    x = Refuses(numbers(2, 4))
    with pytest.raises(
        ValueError, match="attention: q: .*Refuses does not give its elements away by DLPack: not today"
    ):
        qkv.attention(x, x, x)
