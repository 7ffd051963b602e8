"""Arrays as they come: strides, byte orders, element types, libraries, devices."""

import array

import ml_dtypes
import numpy
import pytest

import qkv


def numbers(*shape, seed=0):
    return numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32)


def dense_answer(q, k, v):
    return qkv.attention(*(numpy.array(x, order="C") for x in (q, k, v)))


LAYOUTS = {
    "token-major": numbers(2, 9, 3, 8).swapaxes(1, 2),
    "reversed tokens": numbers(2, 3, 9, 8)[:, :, ::-1],
    "reversed columns": numbers(2, 3, 9, 8)[..., ::-1],
    "every second column": numbers(2, 3, 9, 16)[..., ::2],
    "one batch entry for all": numpy.broadcast_to(numbers(1, 3, 9, 8), (2, 3, 9, 8)),
    "one token for all": numpy.broadcast_to(numbers(2, 3, 1, 8), (2, 3, 9, 8)),
    "Fortran": numpy.asfortranarray(numbers(2, 3, 9, 8)),
}


@pytest.mark.parametrize("x", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_strides_change_nothing(x):
    assert numpy.array_equal(qkv.attention(x, x, x), dense_answer(x, x, x))


def test_elements_are_read_in_place():
    x = numbers(1, 1, 4, 8)
    probe = qkv.Probe(x, x)
    before = probe.weights()
    x[...] = 0  # what the documentation forbids shows that nothing was copied
    assert not numpy.array_equal(probe.tile(stage="raw"), 0 * before + before) and not probe.tile(stage="raw").any()


def test_elements_that_may_not_be_written_are_read():
    x = numbers(1, 2, 4, 8)
    expected = qkv.attention(x, x, x)
    x.flags.writeable = False
    assert numpy.array_equal(qkv.attention(x, x, x), expected)


def test_results_may_be_written_and_outlive_the_call():
    x = numbers(1, 1, 4, 8)
    out, lse = qkv.attention(x, x, x, return_lse=True)
    assert out.flags.writeable and lse.flags.writeable and out.flags.c_contiguous
    out += 1


@pytest.mark.parametrize("dtype", [numpy.float64, numpy.float32, numpy.float16, ml_dtypes.bfloat16])
def test_results_have_the_element_type_of_q(dtype):
    x = numbers(1, 2, 5, 8).astype(dtype)
    out, lse = qkv.attention(x, x, x, return_lse=True)
    assert out.dtype == dtype and lse.dtype == (numpy.float64 if dtype == numpy.float64 else numpy.float32)
    exact = qkv.attention(*[x.astype(numpy.float64)] * 3)
    # Twice what rounding the result costs, and what f32 sums of 8 products do.
    assert (
        numpy.abs(out.astype(numpy.float64) - exact).max()
        <= 2 * ml_dtypes.finfo(dtype).eps * numpy.abs(exact).max() + 1e-6
    )


@pytest.mark.parametrize("shape", [(0, 2, 4, 8), (2, 2, 0, 8)])
def test_nothing_gives_nothing(shape):
    x = numpy.zeros(shape, numpy.float32)
    assert qkv.attention(x, x, x).shape == shape


def test_no_keys_give_zeros():
    q, none = numbers(1, 2, 3, 8), numpy.zeros((1, 2, 0, 8), numpy.float32)
    out, lse = qkv.attention(q, none, none, return_lse=True)
    assert not out.any() and numpy.isneginf(lse).all()


MASKED = {
    "q": lambda x, hidden: qkv.attention(hidden, x, x),
    "v": lambda x, hidden: qkv.attention(x, x, hidden),
    "lse": lambda x, hidden: qkv.Probe(x, x, hidden[:, 0]),
    "bias": lambda x, hidden: qkv.attention(x, x, x, bias=hidden[:, :4]),
    "sinks": lambda x, hidden: qkv.attention(x, x, x, sinks=hidden[0, :1]),
    "values": lambda x, hidden: qkv.heatmap(hidden),
    "mask": lambda x, hidden: qkv.attention(x, x, x, mask=lambda b, h, i, j: numpy.ma.array(j <= i, mask=i == j)),
}


@pytest.mark.parametrize("name", MASKED)
def test_masked_elements_are_refused(name):
    """Their masks would be lost: a buffer is of the elements alone."""
    x = numbers(4, 8)
    with pytest.raises(ValueError, match=f": {name}: expected an array without masked elements, got a masked array"):
        MASKED[name](x, numpy.ma.array(x, mask=x == x[0, 0]))


def test_masked_arrays_that_hide_nothing_are_arrays():
    x = numbers(4, 8)
    given = qkv.attention(numpy.ma.array(x, mask=False), x, numpy.ma.array(x))
    assert numpy.array_equal(given, qkv.attention(x, x, x))


def test_another_byte_order_is_refused():
    x = numbers(1, 1, 2, 4)
    other = x.astype(x.dtype.newbyteorder("S"))
    with pytest.raises(ValueError, match="attention: k: expected elements in this machine's byte order.*newbyteorder"):
        qkv.attention(x, other, x)
    back = other.astype(other.dtype.newbyteorder("="))
    assert numpy.array_equal(qkv.attention(x, back, x), qkv.attention(x, x, x))


@pytest.mark.parametrize("dtype", [numpy.complex64, numpy.int32, numpy.longdouble, numpy.int16, object, "M8[s]"])
def test_other_element_types_are_refused(dtype):
    x = numpy.zeros((1, 1, 2, 4), dtype)
    with pytest.raises(ValueError, match="attention"):
        qkv.attention(x, x, x)


def test_elements_across_words_are_refused():
    bytes_of = numpy.zeros(4 * 8 + 1, numpy.uint8)
    x = bytes_of[1:].view(numpy.float32).reshape(1, 1, 2, 4)
    with pytest.raises(ValueError, match="q: expected elements that are aligned.*x.copy()"):
        qkv.attention(x, x, x)
    record = numpy.zeros((1, 1, 2, 4), numpy.dtype([("a", "f4"), ("b", "u1")]))["a"]
    with pytest.raises(ValueError, match="strides of whole elements|aligned"):
        qkv.attention(record, record, record)


def test_buffers_are_arrays():
    x = numbers(2, 4)
    flat = array.array("f", x.ravel())
    view = memoryview(flat).cast("B").cast("f", shape=[2, 4])
    out = qkv.attention(view, view, view)
    assert isinstance(out, numpy.ndarray) and numpy.array_equal(out, qkv.attention(x, x, x))


class Elsewhere:
    """What an array on a GPU says of itself."""

    def __init__(self, device):
        self.device = device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **kwargs):
        raise AssertionError("its elements are out of reach")


@pytest.mark.parametrize(
    "device, name", [((2, 0), "CUDA \\(device 0\\)"), ((8, 0), "Metal"), ((10, 3), "ROCm \\(device 3")]
)
def test_other_devices_are_refused_with_what_to_do(device, name):
    x = Elsewhere(device)
    with pytest.raises(ValueError, match=f"attention: q: .*{name}.*q.cpu\\(\\)"):
        qkv.attention(x, x, x)


class Plain:
    """A library of its own, that knows DLPack before or since 1.0 and nothing else."""

    def __init__(self, x, knows_versions):
        self.x, self.knows_versions = x, knows_versions

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, stream=None, **kwargs):
        if kwargs and not self.knows_versions:
            raise TypeError("__dlpack__() got an unexpected keyword argument")
        return self.x.__dlpack__(**kwargs)


@pytest.mark.parametrize("knows_versions", [False, True])
def test_dlpack_is_read_before_and_since_its_versions(knows_versions):
    x = numbers(2, 3, 9, 8)[:, :, ::-1]
    plain = Plain(x, knows_versions)
    assert numpy.array_equal(qkv.attention(plain, plain, plain), qkv.attention(x, x, x))


class TestTorch:
    @pytest.fixture
    def torch(self):
        return pytest.importorskip("torch", reason="torch is not installed")

    @pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
    def test_tensors_come_back_as_tensors(self, torch, dtype):
        q, k = (torch.randn(2, 4, T, 8).to(getattr(torch, dtype)) for T in (5, 7))
        out, lse = qkv.attention(q, k, k, return_lse=True)
        assert isinstance(out, torch.Tensor) and out.dtype == q.dtype and isinstance(lse, torch.Tensor)
        exact = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), k.double())
        assert (out.double() - exact).abs().max() <= 2 * torch.finfo(q.dtype).eps * exact.abs().max() + 1e-6
        out += 1

    def test_masks_and_strides(self, torch):
        x = torch.randn(2, 5, 3, 8).transpose(1, 2)
        mask = torch.ones(5, 5, dtype=torch.bool).tril()
        assert torch.equal(qkv.attention(x, x, x, mask=mask), qkv.attention(x, x, x, mask="causal"))
        one = torch.randn(1, 1, 1, 8).expand(2, 3, 4, 8)
        torch.testing.assert_close(qkv.attention(one, one, one), one)

    def test_gradients_are_those_of_autograd(self, torch):
        q, k, v = (torch.randn(1, 2, 6, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))
        expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        expected.sum().backward()
        plain = [x.detach() for x in (q, k, v)]
        out, lse = qkv.attention(*plain, mask="causal", return_lse=True)
        gradients = qkv.attention_backward(torch.ones_like(out), *plain, out, lse, mask="causal")
        for given, x in zip(gradients[:3], (q, k, v), strict=True):
            torch.testing.assert_close(given, x.grad)

    def test_a_tensor_that_records_is_refused(self, torch):
        x = torch.randn(1, 1, 2, 4, requires_grad=True)
        with pytest.raises(ValueError, match="attention: q: .*tensor.detach()"):
            qkv.attention(x, x, x)
        with pytest.raises(ValueError, match="attention: q: "):
            qkv.attention(*[torch.empty(1, 1, 2, 4, device="meta")] * 3)


class TestJax:
    @pytest.fixture
    def jnp(self):
        return pytest.importorskip("jax.numpy", reason="jax is not installed")

    @pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
    def test_arrays_come_back_as_arrays(self, jnp, dtype):
        x = jnp.asarray(numbers(2, 3, 9, 8), dtype=dtype)
        out = qkv.attention(x, x, x, mask="causal")
        assert isinstance(out, type(x)) and out.dtype == x.dtype
        assert numpy.array_equal(numpy.asarray(out), qkv.attention(*[numpy.asarray(x)] * 3, mask="causal"))
