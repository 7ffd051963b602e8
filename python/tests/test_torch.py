"""qkv.torch.scaled_dot_product_attention and attention, beside PyTorch's own."""

import itertools

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402

import qkv  # noqa: E402
import qkv.torch  # noqa: E402

ours = qkv.torch.scaled_dot_product_attention


def theirs(*args, **options):
    with sdpa_kernel(SDPBackend.MATH):
        return torch.nn.functional.scaled_dot_product_attention(*args, **options)


def draw(*shape, dtype=torch.float64, grad=False, seed=0):
    generator = torch.Generator().manual_seed(seed + sum(shape) + len(shape))
    return torch.randn(shape, dtype=torch.float64, generator=generator).to(dtype).requires_grad_(grad)


def answers(function, inputs, mask=None, **options):
    """out and the gradients of all inputs and the mask that want one."""
    inputs = [x.detach().clone().requires_grad_() for x in inputs]
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.detach().clone().requires_grad_()
    out = function(*inputs, attn_mask=mask, **options)
    generator = torch.Generator().manual_seed(1)
    out.backward(torch.randn(out.shape, dtype=torch.float64, generator=generator).to(out.dtype))
    if mask is None or not mask.requires_grad:
        return [out, *(x.grad for x in inputs)]
    # PyTorch leaves the gradient of a mask out where there is nothing to compute.
    return [out, *(x.grad for x in inputs), torch.zeros_like(mask) if mask.grad is None else mask.grad]


def assert_same(inputs, mask=None, **options):
    both = (answers(function, inputs, mask, **options) for function in (ours, theirs))
    for given, expected in zip(*both, strict=True):
        assert given.dtype == expected.dtype and given.shape == expected.shape
        torch.testing.assert_close(given, expected, rtol=1e-10, atol=1e-12)


SHAPES = {  # of query, key and value
    "2 axes": [(5, 8), (7, 8), (7, 6)],
    "3 axes": [(3, 5, 8), (3, 7, 8), (3, 7, 6)],
    "4 axes": [(2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 6)],
    "5 axes": [(2, 2, 3, 5, 8), (2, 2, 3, 7, 8), (2, 2, 3, 7, 8)],
    "mixed axes": [(3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8)],
    "one query batch": [(1, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8)],
    "one key head": [(2, 3, 5, 8), (2, 1, 7, 8), (2, 1, 7, 8)],
    "one value head": [(2, 3, 5, 8), (2, 3, 7, 8), (2, 1, 7, 8)],
    "one query head": [(2, 1, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8)],
    "values of a larger batch": [(1, 3, 5, 8), (1, 3, 7, 8), (2, 3, 7, 8)],
}


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES.keys())
def test_shapes(shapes, causal):
    assert_same([draw(*shape, seed=n) for n, shape in enumerate(shapes)], is_causal=causal)


MASKS = [(7,), (1, 7), (5, 1), (5, 7), (3, 5, 7), (1, 3, 1, 7), (2, 1, 1, 7), (2, 3, 5, 7), (1, 1, 5, 7), ()]


@pytest.mark.parametrize("kind", ["bool", "float", "float32"])
@pytest.mark.parametrize("shape", MASKS, ids=str)
def test_masks(shape, kind):
    q, k, v = draw(2, 3, 5, 8), draw(2, 3, 7, 8), draw(2, 3, 7, 8, seed=1)
    mask = draw(*shape)
    if kind == "bool":
        mask = mask > -0.5
    elif kind == "float32":
        mask = mask.float()
    assert_same([q, k, v], mask)


@pytest.mark.parametrize("shape", [(5, 7), (3, 5, 7), (2, 1, 1, 1, 7), (1, 2, 3, 5, 7), (1, 1, 3, 5, 7)], ids=str)
def test_masks_of_five_axes(shape):
    q, k, v = draw(2, 2, 3, 5, 8), draw(2, 2, 3, 7, 8), draw(2, 2, 3, 7, 8, seed=1)
    assert_same([q, k, v], draw(*shape))
    assert_same([q, k, v], draw(*shape) > -0.5)


def test_a_mask_that_repeats_itself_is_read_once():
    q, k = draw(2, 3, 5, 8), draw(2, 3, 7, 8)
    padding = (draw(2, 1, 1, 7) > 0).expand(2, 3, 5, 7)
    assert_same([q, k, k], padding)
    mask = draw(1, 1, 5, 1, grad=True)
    ours(q, k, k, attn_mask=mask.expand(2, 3, 5, 7)).sum().backward()
    assert mask.grad.shape == mask.shape


@pytest.mark.parametrize("heads", [(4, 2, 2), (4, 1, 1), (6, 2, 3), (4, 4, 1), (4, 4, 4)], ids=str)
@pytest.mark.parametrize("axes", [3, 4, 5])
def test_grouped_heads(heads, axes):
    batch = (2,) * (axes - 3)
    q, k, v = (draw(*batch, h, T, 8, seed=h) for h, T in zip(heads, (5, 7, 7), strict=True))
    assert_same([q, k, v], enable_gqa=True)


@pytest.mark.parametrize("scale", [None, 0.0, -0.5, 2.0])
def test_scales(scale):
    assert_same([draw(1, 2, 5, 8), draw(1, 2, 7, 8), draw(1, 2, 7, 8, seed=1)], scale=scale)


@pytest.mark.parametrize("value", [-torch.inf, False])
def test_a_row_that_sees_nothing_is_zero(value):
    mask = torch.zeros(5, 7, dtype=torch.float64) if value else torch.ones(5, 7, dtype=torch.bool)
    mask[2] = value
    q, k, v = draw(1, 2, 5, 8), draw(1, 2, 7, 8), draw(1, 2, 7, 8, seed=1)
    assert_same([q, k, v], mask)
    assert not ours(q, k, v, attn_mask=mask)[:, :, 2].any()


EMPTY = [
    (0, 2, 5, 7, 4, 4),
    (2, 0, 5, 7, 4, 4),
    (2, 2, 0, 7, 4, 4),
    (2, 2, 5, 0, 4, 4),
    (2, 2, 5, 7, 4, 0),
    (2, 2, 5, 7, 0, 4),
]


@pytest.mark.parametrize("B, H, Tq, Tk, D, Dv", EMPTY)
def test_empty_tensors(B, H, Tq, Tk, D, Dv):
    assert_same([draw(B, H, Tq, D), draw(B, H, Tk, D), draw(B, H, Tk, Dv)], scale=1.0)
    if Tk > 0:
        mask = torch.zeros(Tq, Tk, dtype=torch.float64)
        assert_same([draw(B, H, Tq, D), draw(B, H, Tk, D), draw(B, H, Tk, Dv)], mask, scale=1.0)


def test_strides_are_read_in_place():
    token_major = draw(2, 5, 3, 8).transpose(1, 2)
    backwards = draw(2, 3, 5, 16)[..., ::2]
    one = draw(1, 1, 1, 8).expand(2, 3, 5, 8)
    for inputs in itertools.permutations([token_major, backwards, one]):
        assert_same(list(inputs), draw(5, 5).t())


@pytest.mark.parametrize("asked", [[0], [1], [2], [0, 1], [0, 2], [1, 2]], ids=str)
@pytest.mark.parametrize("function", [ours, qkv.torch.attention], ids=["sdpa", "attention"])
def test_gradients_of_some_inputs(function, asked):
    inputs = [draw(2, 3, 5, 8), draw(2, 3, 7, 8), draw(2, 3, 7, 6)]
    found = []
    for each in (function, theirs):
        given = [x.clone().requires_grad_(n in asked) for n, x in enumerate(inputs)]
        each(*given).square().sum().backward()
        found.append([x.grad for x in given])
    for n, (ours_, theirs_) in enumerate(zip(*found, strict=True)):
        assert (ours_ is None) == (n not in asked)
        if n in asked:
            torch.testing.assert_close(ours_, theirs_, rtol=1e-10, atol=1e-12)


def test_an_input_that_was_changed_since_is_found_out():
    q, k, v = (draw(2, 3, 5, 8, grad=True) for _ in range(3))
    out = ours(q, k, v)
    with torch.no_grad():
        k.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_signs_that_a_view_turns_are_read():
    x = torch.view_as_complex(draw(1, 2, 5, 8, 2)).conj().imag
    assert x.is_neg()
    torch.testing.assert_close(ours(x, x, x), theirs(x.resolve_neg(), x.resolve_neg(), x.resolve_neg()))
    with pytest.raises(ValueError, match="attention: q: .*resolve_neg"):
        qkv.attention(x, x, x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("masked", [False, True])
def test_types_are_as_exact_as_pytorchs(dtype, masked):
    """At most twice the error of PyTorch's own computation in that type."""
    inputs = [draw(2, 4, 40, 16, dtype=dtype, seed=n) for n in range(3)]
    mask = draw(40, 40, dtype=dtype) if masked else None
    exact = answers(theirs, [x.double() for x in inputs], None if mask is None else mask.double())
    for given, plain, right in zip(answers(ours, inputs, mask), answers(theirs, inputs, mask), exact, strict=True):
        assert given.dtype == dtype
        allowed = 2 * (plain.double() - right).abs().max() + torch.finfo(dtype).eps * right.abs().max()
        assert (given.double() - right).abs().max() <= allowed


REFUSED = {
    "types": (lambda x: [x, x.double(), x], {}, "same dtype"),
    "whole numbers": (lambda x: [x.int()] * 3, {}, "float32, bfloat16, float16 or float64"),
    "one axis": (lambda x: [x[0, 0, 0]] * 3, {}, "at least 2 dimensional"),
    "D": (lambda x: [x, x[..., :4], x], {}, "one last size"),
    "Tk": (lambda x: [x, x, x[:, :, :3]], {}, "as many keys as values"),
    "heads": (lambda x: [x, x[:, :2], x[:, :2]], {}, "do not broadcast"),
    "batch": (lambda x: [x, x.expand(3, 4, 5, 8), x.expand(2, 4, 5, 8)], {}, "do not broadcast"),
    "grouped heads": (lambda x: [x, x[:, :3], x[:, :3]], {"enable_gqa": True}, "must divide"),
    "grouped heads of two axes": (lambda x: [x[0, 0]] * 3, {"enable_gqa": True}, "at least 3"),
    "mask's type": (lambda x: [x] * 3, {"attn_mask": torch.ones(5, 5).double()}, "attn_mask dtype"),
    "mask of bytes": (lambda x: [x] * 3, {"attn_mask": torch.ones(5, 5, dtype=torch.uint8)}, "attn_mask dtype"),
    "short mask": (lambda x: [x] * 3, {"attn_mask": torch.ones(5, 4)}, "does not broadcast"),
    "large mask": (lambda x: [x] * 3, {"attn_mask": torch.ones(2, 1, 5, 5)}, "does not broadcast"),
    "mask of more axes": (lambda x: [x] * 3, {"attn_mask": torch.ones(1, 1, 1, 5, 5)}, "does not broadcast"),
    "mask and causal": (lambda x: [x] * 3, {"attn_mask": torch.ones(5, 5), "is_causal": True}, "is_causal=True"),
    "dropout": (lambda x: [x] * 3, {"dropout_p": 1.5}, "between 0 and 1"),
    "sparse": (lambda x: [x[0, 0].to_sparse()] * 3, {}, "dense strided"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_what_pytorch_refuses_is_refused(case):
    inputs, options, message = case
    x = torch.ones(1, 4, 5, 8)
    with pytest.raises(RuntimeError, match=message):
        ours(*inputs(x), **options)
    with pytest.raises((RuntimeError, IndexError)):
        theirs(*inputs(x), **options)


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match="query must be Tensor, not list"):
        ours([1.0], [1.0], [1.0])


@pytest.mark.parametrize("n", range(3))
def test_none_is_no_tensor(n):
    given = [None if n == m else torch.ones(1, 2, 5, 8) for m in range(3)]
    name = ("query", "key", "value")[n]
    causal_lower_right = pytest.importorskip("torch.nn.attention.bias").causal_lower_right
    for options in ({}, {"attn_mask": torch.ones(5, 5)}, {"attn_mask": causal_lower_right(5, 5)}, {"dropout_p": 0.5}):
        with pytest.raises(TypeError, match=f"{name} must be Tensor, not NoneType"):
            ours(*given, **options)


def test_autocast_casts_as_pytorch_does():
    x, mask = draw(1, 2, 5, 8, dtype=torch.float32), draw(5, 5, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        assert ours(x, x, x).dtype == ours(x, x, x, attn_mask=mask).dtype == torch.bfloat16
        assert ours(x.double(), x.double(), x.double()).dtype == torch.float64
        torch.testing.assert_close(ours(x, x.bfloat16(), x), theirs(x, x.bfloat16(), x))


class TestDropout:
    def test_the_seed_is_pytorchs(self):
        x = draw(1, 2, 16, 8, dtype=torch.float32, grad=True)
        torch.manual_seed(3)
        first, second = (ours(x, x, x, dropout_p=0.5) for _ in range(2))
        torch.manual_seed(3)
        assert torch.equal(ours(x, x, x, dropout_p=0.5), first) and not torch.equal(first, second)

    def test_the_share_and_the_mean(self):
        values = torch.eye(64).expand(1, 8, 64, 64)  # out is the weights
        zeros = torch.zeros(1, 8, 64, 4)
        weights = ours(zeros, zeros, values, dropout_p=0.25)
        assert abs((weights == 0).double().mean() - 0.25) < 0.02  # 32768 draws: 8 standard deviations
        torch.testing.assert_close(weights.max(), torch.tensor(1 / 64 / 0.75))

    def test_the_gradient_drops_the_same(self):
        q, k, v = (draw(1, 2, 6, 4, grad=True, seed=n) for n in range(3))

        def seeded(*inputs):
            torch.manual_seed(5)
            return ours(*inputs, dropout_p=0.4)

        assert torch.autograd.gradcheck(seeded, (q, k, v))

    def test_all_weights_dropped(self):
        assert_same([draw(1, 2, 5, 8)] * 3, dropout_p=1.0)


class TestGradients:
    def test_gradcheck(self):
        q, k, v = draw(2, 4, 5, 4, grad=True), draw(2, 2, 6, 4, grad=True), draw(2, 2, 6, 3, grad=True)
        assert torch.autograd.gradcheck(lambda *x: ours(*x, enable_gqa=True, is_causal=True), (q, k, v))
        mask = draw(4, 1, 6, grad=True)
        assert torch.autograd.gradcheck(lambda *x: ours(*x[:3], attn_mask=x[3], enable_gqa=True), (q, k, v, mask))

    def test_gradcheck_of_every_option(self):
        q, k, v = draw(2, 4, 5, 4, grad=True), draw(2, 2, 6, 4, grad=True), draw(2, 2, 6, 3, grad=True)
        bias, sinks = draw(4, 5, 6, grad=True), draw(4, grad=True)

        def both(q, k, v, bias, sinks):
            torch.manual_seed(0)
            return tuple(
                qkv.torch.attention(
                    q, k, v, mask="causal | prefix(2)", bias=["alibi", bias], scale=0.7, softcap=2.0, dropout=0.2,
                    sinks=sinks, return_lse=True,
                )
            )  # fmt: skip

        assert torch.autograd.gradcheck(both, (q, k, v, bias, sinks))

    def test_only_what_is_wanted_is_computed(self):
        q, k = draw(1, 2, 5, 4, grad=True), draw(1, 2, 5, 4)
        ours(q, k, k).sum().backward()
        assert q.grad is not None and k.grad is None

    @pytest.mark.parametrize("loss", [lambda out: out.sum(), lambda out: out.square().sum()], ids=["linear", "square"])
    @pytest.mark.parametrize("is_operator", [False, True])
    def test_second_derivatives_are_refused(self, loss, is_operator):
        x = draw(1, 2, 5, 4, grad=True)
        if is_operator:
            out, _ = torch.ops.qkv.attention(x, x, x, None, None, None, None, "", "", None, None, 0.0, None, None)
        else:
            out = ours(x, x, x)
        (first,) = torch.autograd.grad(loss(out), x, create_graph=True)
        with pytest.raises(NotImplementedError, match="second derivatives are not there"):
            first.sum().backward()

    def test_forward_mode_is_refused(self):
        x = draw(1, 2, 5, 4)
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(x, x)
            with pytest.raises(NotImplementedError, match="forward-mode differentiation is not there"):
                ours(dual, x, x)

    def test_checkpoints_recompute(self):
        x = draw(1, 2, 5, 4, grad=True)
        torch.utils.checkpoint.checkpoint(
            lambda y: ours(y, y, y, dropout_p=0.3), x, use_reentrant=False
        ).sum().backward()
        assert x.grad.abs().sum() > 0


class TestOperator:
    @pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
    def test_compile_keeps_the_graph_whole(self, backend):
        def step(q, k, v, mask):
            return ours(q.relu(), k, v, attn_mask=mask, enable_gqa=True).sin() + ours(q, q, q, is_causal=True)

        q, k, v = draw(2, 4, 6, 8, grad=True), draw(2, 2, 6, 8, grad=True), draw(2, 2, 6, 8, grad=True)
        mask = draw(6, 6, grad=True)
        compiled = torch.compile(step, backend=backend, fullgraph=True)
        given = torch.autograd.grad(compiled(q, k, v, mask).sum(), (q, k, v, mask))
        expected = torch.autograd.grad(step(q, k, v, mask).sum(), (q, k, v, mask))
        torch.testing.assert_close(compiled(q, k, v, mask), step(q, k, v, mask))
        torch.testing.assert_close(given, expected)

    def test_compile_of_other_lengths(self):
        compiled = torch.compile(
            lambda x: ours(x, x, x, is_causal=True), backend="aot_eager", fullgraph=True, dynamic=True
        )
        for T in (5, 9, 17):
            x = draw(2, 3, T, 8)
            torch.testing.assert_close(compiled(x), ours(x, x, x, is_causal=True))

    def test_compile_of_every_option(self):
        def step(q, bias, sinks):
            return qkv.torch.attention(
                q, q, q, mask="causal & window(4)", bias=["alibi", bias], softcap=3.0, sinks=sinks
            )

        inputs = draw(2, 3, 9, 8, grad=True), draw(9, 9, grad=True), draw(3, grad=True)
        compiled = torch.compile(step, backend="aot_eager", fullgraph=True)
        given, expected = (torch.autograd.grad(f(*inputs).sum(), inputs) for f in (compiled, step))
        torch.testing.assert_close(given, expected)

    @pytest.mark.filterwarnings("ignore")
    def test_opcheck(self):
        q, k, v = draw(2, 4, 5, 4, grad=True), draw(2, 2, 6, 4, grad=True), draw(2, 2, 6, 3, grad=True)
        settings = (None, "causal(top_left)", "", None, None, 0.0, None, None)
        inputs = (q, k, v, None, draw(5, 6, grad=True), draw(4, grad=True))
        torch.library.opcheck(torch.ops.qkv.attention.default, (*inputs, *settings))

    def test_tensors_without_elements_have_shapes(self):
        q, k = torch.empty(2, 4, 5, 8, device="meta"), torch.empty(2, 2, 7, 8, device="meta")
        assert ours(q, k, k, enable_gqa=True).shape == (2, 4, 5, 8)

    def test_vmap_is_served(self):
        q, k, mask = draw(3, 2, 4, 5, 8), draw(2, 4, 7, 8), draw(3, 5, 7)
        given = torch.vmap(lambda q, mask: ours(q, k, k, attn_mask=mask))(q, mask)
        torch.testing.assert_close(
            given, torch.stack([ours(a, k, k, attn_mask=b) for a, b in zip(q, mask, strict=True)])
        )

    def test_gradients_of_a_transformed_function(self):
        x, mask = draw(3, 2, 4, 5, 8), draw(5, 5)

        def loss(x, mask, like=None):
            return (like or ours)(x, x, x, attn_mask=mask).square().sum()

        recorded = [x.clone().requires_grad_(), mask.clone().requires_grad_()]
        loss(*recorded).backward()
        given = torch.func.grad(loss, (0, 1))(x, mask)
        torch.testing.assert_close(list(given), [one.grad for one in recorded])
        each = torch.vmap(torch.func.grad(loss, (0, 1)), (0, None))(x, mask)
        torch.testing.assert_close(each[0], recorded[0].grad)
        torch.testing.assert_close(each[1].sum(0), recorded[1].grad)

    def test_second_derivatives_of_a_transformed_function_are_refused(self):
        x = draw(1, 1, 3, 2)
        with pytest.raises(NotImplementedError, match="second derivatives are not there"):
            torch.func.grad(lambda y: torch.func.grad(lambda z: ours(z, z, z).square().sum())(y).sum())(x)
        with pytest.raises((NotImplementedError, RuntimeError), match="forward-mode|jvp"):
            torch.func.jvp(lambda y: ours(y, y, y), (x,), (x,))

    def test_saved_and_loaded_by_export(self):
        class Layer(torch.nn.Module):
            def forward(self, x):
                return ours(x, x, x, is_causal=True)

        x = draw(1, 2, 5, 8)
        exported = torch.export.export(Layer(), (x,))
        assert "qkv.attention" in str(exported.graph)
        torch.testing.assert_close(exported.module()(x), ours(x, x, x, is_causal=True))


class TestAttention:
    def test_it_is_qkvs_own(self):
        q, k, v = draw(2, 4, 9, 8), draw(2, 2, 9, 8), draw(2, 2, 9, 6)
        options = {"mask": "causal & window(5)", "bias": "alibi", "softcap": 3.0}
        out, lse = qkv.torch.attention(q, k, v, **options, return_lse=True)
        expected = qkv.attention(q, k, v, **options, return_lse=True)
        assert torch.equal(out, expected.out) and torch.equal(lse, expected.lse)

    def test_masks_and_biases_of_every_kind(self):
        q = draw(2, 4, 9, 8)
        visible = draw(9, 9) > -1
        expected = qkv.attention(q, q, q, mask=visible)
        for mask in (visible, qkv.Mask(visible.numpy()), lambda b, h, i, j: visible.numpy()[i, j]):
            torch.testing.assert_close(qkv.torch.attention(q, q, q, mask=mask), expected)
        added = draw(4, 9, 9)
        expected = qkv.attention(q, q, q, bias=qkv.Bias("alibi") + qkv.Bias(added.numpy()))
        second = (added, qkv.Bias(added.numpy()), lambda b, h, i, j: added.numpy()[h, i, j])
        for bias in itertools.product(("alibi", qkv.Bias("alibi")), second):
            torch.testing.assert_close(qkv.torch.attention(q, q, q, bias=bias), expected)

    def test_fewer_axes(self):
        x = draw(9, 8, grad=True)
        out, lse = qkv.torch.attention(x, x, x, return_lse=True)
        assert out.shape == (9, 8) and lse.shape == (9,)
        (out.sum() + lse.sum()).backward()

    def test_documents(self):
        x = draw(1, 2, 12, 4, grad=True)
        offsets = [0, 3, 7, 12]
        with pytest.raises(ValueError, match=r"attention: ragged: expected whole numbers, got 3\.5"):
            qkv.torch.attention(x, x, x, ragged=([0, 3.5, 12], offsets))
        packed = qkv.torch.attention(x, x, x, mask="causal", ragged=(offsets, offsets))
        apart = [qkv.torch.attention(*[x[:, :, a:b]] * 3, mask="causal") for a, b in itertools.pairwise(offsets)]
        torch.testing.assert_close(packed, torch.cat(apart, 2))
        packed.sum().backward()

    def test_watch_keeps_a_probe_of_each_call(self):
        q, k, v = draw(1, 4, 5, 8, grad=True), draw(1, 2, 7, 8), draw(1, 2, 7, 3)
        options = {"mask": "causal & window(3)", "bias": "alibi", "softcap": 2.0}
        with qkv.torch.watch() as probes:
            ours(q, k, v, enable_gqa=True)
            ours(k, k, k)  # by the shortest way there is
            ours(k.detach().requires_grad_(), k, k)
            with qkv.torch.watch() as inner:
                qkv.torch.attention(q, k, v, **options).sum().backward()
        ours(q, k, v, enable_gqa=True)
        assert len(probes) == 4 and len(inner) == 1 and inner[0] is probes[3]
        for probe, queries, expected in zip(probes, (q, k, k, q), ({}, {}, {}, options), strict=True):
            weights = qkv.attention_stage("weights", queries.detach(), k, **expected)
            for h in range(queries.shape[1]):
                torch.testing.assert_close(torch.from_numpy(probe.weights(h)), weights[0, h])

    def test_watch_refuses_what_has_no_probe(self):
        x = draw(1, 1, 4, 8)
        with qkv.torch.watch(), pytest.raises(ValueError, match="watch: expected calls without ragged"):
            qkv.torch.attention(x, x, x, ragged=([0, 1, 4], [0, 1, 4]))
        qkv.torch.attention(x, x, x, ragged=([0, 1, 4], [0, 1, 4]))

    @pytest.mark.parametrize(
        "options, error, message",
        [
            ({"mask": 3}, TypeError, "attention: mask: expected a Mask, a text"),
            ({"bias": 3}, TypeError, "attention: bias: expected a Bias, a text"),
            ({"mask": "cause"}, ValueError, "cause"),
            ({"softcap": -1.0}, ValueError, "softcap"),
            ({"dropout": 1.0}, ValueError, "dropout"),
        ],
    )
    def test_errors(self, options, error, message):
        x = draw(1, 2, 5, 8)
        with pytest.raises(error, match=message):
            qkv.torch.attention(x, x, x, **options)
        with pytest.raises(ValueError, match="attention: k: expected"):
            qkv.torch.attention(x, x[0], x)


def with_mask(function, mask):
    return lambda *inputs, attn_mask: function(*inputs, attn_mask=mask)


@pytest.mark.parametrize("sizes", [(5, 5), (5, 7), (7, 5)])
@pytest.mark.parametrize("variant", ["causal_upper_left", "causal_lower_right"])
def test_takes_a_causal_bias_as_the_mask_that_it_stands_for(variant, sizes):
    from torch.nn.attention import bias

    if variant == "causal_lower_right" and sizes[0] > sizes[1]:
        pytest.skip("PyTorch gives NaN where rows see nothing")
    inputs = [draw(2, 3, sizes[at], 8, seed=at) for at in (0, 1, 1)]
    made = getattr(bias, variant)(*sizes)
    visible = torch.ones(sizes, dtype=torch.bool).tril(0 if variant == "causal_upper_left" else sizes[1] - sizes[0])
    for given, expected in zip(
        answers(with_mask(ours, made), inputs), answers(with_mask(theirs, visible), inputs), strict=True
    ):
        torch.testing.assert_close(given, expected, rtol=1e-10, atol=1e-12)
    with pytest.raises(ValueError, match="CausalBias should not be used with causal=True"):
        ours(*inputs, made, is_causal=True)


def test_refuses_a_causal_bias_of_other_sizes():
    from torch.nn.attention.bias import causal_lower_right

    q, k = draw(1, 1, 5, 8), draw(1, 1, 7, 8)
    with pytest.raises(RuntimeError, match="a CausalBias of 5 queries and 7 keys, but got one of \\(3, 5\\)"):
        ours(q, k, k, causal_lower_right(3, 5))
