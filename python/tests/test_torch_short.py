"""Calls of qkv.torch.scaled_dot_product_attention so short that they go a way of their own, beside PyTorch's."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402

import qkv  # noqa: E402
import qkv.torch  # noqa: E402

ours = qkv.torch.scaled_dot_product_attention


def theirs(*args, **options):
    with sdpa_kernel(SDPBackend.MATH):
        return torch.nn.functional.scaled_dot_product_attention(*args, **options)


def draw(*shape, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed + sum(shape) + len(shape))
    return torch.randn(shape, dtype=torch.float64, generator=generator).to(dtype)


# Short calls go by a way of their own, in float32 and below some 2**18 multiply-adds.
LENGTHS = {"short": 1, "long": 300}


@pytest.mark.parametrize("T", LENGTHS.values(), ids=LENGTHS.keys())
class TestShortAndLongCalls:
    def inputs(self, T, heads=(4, 4, 4), Dv=8):
        shapes = [(2, heads[0], T, 8), (2, heads[1], T + 3, 8), (2, heads[2], T + 3, Dv)]
        return [draw(*shape, dtype=torch.float32, seed=n) for n, shape in enumerate(shapes)]

    def same(self, given, expected):
        torch.testing.assert_close(given, expected, rtol=1e-4, atol=1e-5)

    @pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.3}, {"scale": 2}], ids=str)
    def test_agree_with_pytorch(self, T, options):
        q, k, v = self.inputs(T, Dv=5)
        self.same(ours(q, k, v, **options), theirs(q, k, v, **options))
        strided = [x.mT.contiguous().mT for x in (q, k, v)]
        self.same(ours(*strided, **options), theirs(q, k, v, **options))

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
    def test_of_other_types(self, T, dtype):
        q, k, v = (x.to(dtype) for x in self.inputs(T))
        given = ours(q, k, v)
        assert given.dtype == dtype
        torch.testing.assert_close(given, theirs(q, k, v), rtol=2e-2, atol=2e-2)

    MASKS = {
        "a row": (1, 1),
        "each pair": (-1, 0),
        "keys of an entry": (2, 1, 1, 0),
        "each head": (4, -1, 0),
        "whole": (2, 4, -1, 0),
    }

    @pytest.mark.parametrize("shape", MASKS.values(), ids=MASKS.keys())
    @pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
    def test_read_masks_and_numbers(self, T, shape, dtype):
        q, k, v = (x.to(dtype) for x in self.inputs(T))
        shape = [{-1: T, 0: T + 3}.get(n, n) for n in shape]
        added = draw(*shape, dtype=torch.float32, seed=3)
        seen = added > -1
        seen[..., 0] = True
        # Each of the ways that a long call goes gives the same bits.
        for mask in (seen, added, added.to(dtype), seen.mT.contiguous().mT, added.expand(*added.shape)):
            given = ours(q, k, v, attn_mask=mask)
            with torch.autograd.forward_ad.dual_level():
                assert torch.equal(given, ours(q, k, v, attn_mask=mask))
            exact_mask = mask if mask.dtype == torch.bool else mask.double()
            exact = theirs(*(x.double() for x in (q, k, v)), attn_mask=exact_mask)
            torch.testing.assert_close(given.double(), exact, rtol=2e-2, atol=4e-2 if dtype != torch.float32 else 1e-5)

    def test_read_masks_of_grouped_heads(self, T):
        q, k, v = self.inputs(T, heads=(4, 2, 2))
        mask = draw(4, T, 1, dtype=torch.float32)
        options = {"attn_mask": mask, "enable_gqa": True, "scale": 0.5}
        self.same(ours(q, k, v, **options), theirs(q, k, v, **options))

    def test_refuse_masks_as_pytorch_does(self, T):
        q, k, v = self.inputs(T)
        for mask, message in [
            (torch.ones(T, T + 3, dtype=torch.uint8), "attn_mask dtype"),
            (torch.ones(T, T + 3, dtype=torch.float16), "attn_mask dtype"),
            (torch.ones(T, T + 2), "does not broadcast"),
            (torch.ones(1, 1, 1, 1, 1), "does not broadcast"),
            (torch.ones(3, 1, 1, 1, dtype=torch.bool), "does not broadcast"),
        ]:
            with pytest.raises(RuntimeError, match=message):
                ours(q, k, v, attn_mask=mask)
        with pytest.raises(RuntimeError, match="is_causal=True"):
            ours(q, k, v, attn_mask=torch.ones(1, 1), is_causal=True)

    def test_record_gradients_of_masks(self, T):
        q, k, v = self.inputs(T)
        mask = torch.zeros(T, T + 3, requires_grad=True)
        assert ours(q, k, v, attn_mask=mask).requires_grad
        with torch.no_grad():
            assert not ours(q, k, v, attn_mask=mask).requires_grad
        turned = torch._neg_view(draw(T, T + 3, dtype=torch.float32))
        self.same(ours(q, k, v, attn_mask=turned), theirs(q, k, v, attn_mask=turned))

    def test_records_gradients_where_they_are_recorded_alone(self, T):
        q, k, v = self.inputs(T)
        q.requires_grad_()
        assert ours(q, k, v).requires_grad
        assert qkv.torch.attention(q, k, v).requires_grad
        with torch.no_grad():
            given = ours(q, k, v), qkv.torch.attention(q, k, v)
        for out in given:
            assert not out.requires_grad
            self.same(out, theirs(q.detach(), k, v))

    def test_reads_signs_that_are_not_in_memory(self, T):
        q, k, v = self.inputs(T)
        for n in range(3):
            negated = [torch._neg_view(x) if m == n else x for m, x in enumerate((q, k, v))]
            self.same(ours(*negated), theirs(*negated))
            self.same(qkv.torch.attention(*negated), theirs(*negated))

    def test_heads_broadcast_and_are_grouped_only_where_that_is_asked_for(self, T):
        q, k, v = self.inputs(T, heads=(4, 2, 2))
        with pytest.raises(RuntimeError):
            ours(q, k, v)
        self.same(ours(q, k, v, enable_gqa=True), theirs(q, k, v, enable_gqa=True))
        self.same(qkv.torch.attention(q, k, v), theirs(q, k, v, enable_gqa=True))
        self.same(ours(q, k[:, :1], v[:, :1]), theirs(q, k[:, :1], v[:, :1]))

    def test_errors_are_those_of_pytorch(self, T):
        q, k, v = self.inputs(T)
        with pytest.raises(RuntimeError, match="same dtype"):
            ours(q, k.double(), v)
        with pytest.raises(RuntimeError, match="last size"):
            ours(q, k[..., :4], v)
        with pytest.raises(ValueError, match="scale"):
            ours(q, k, v, scale=float("inf"))
        with pytest.raises(TypeError, match="key must be Tensor"):
            ours(q, k.numpy(), v)

    def test_masks_of_a_text_and_of_an_object(self, T):
        q, k, v = self.inputs(T)
        expected = qkv.attention(q.numpy(), k.numpy(), v.numpy(), mask="causal & window(2)")
        for mask in ("causal & window(2)", qkv.Mask("causal & window(2)")):
            self.same(qkv.torch.attention(q, k, v, mask=mask), torch.from_numpy(expected))
        with pytest.raises(ValueError, match="did you mean"):
            qkv.torch.attention(q, k, v, mask="causl")

    def test_probes_are_told(self, T):
        q, k, v = self.inputs(T)
        with qkv.torch.watch() as probes:
            ours(q, k, v)
            qkv.torch.attention(q, k, v)
        assert len(probes) == 2

    def test_autocast_casts(self, T):
        q, k, v = self.inputs(T)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert ours(q, k, v).dtype == torch.bfloat16
