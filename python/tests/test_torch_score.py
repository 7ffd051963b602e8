"""score_mod of qkv.torch.attention beside the same written out in PyTorch."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import qkv  # noqa: E402
import qkv.torch  # noqa: E402

B, HQ, HK, TQ, TK, D = 2, 4, 2, 6, 7, 8
SLOPES = torch.tensor([0.5, 0.25, 0.125, 0.0625], dtype=torch.float64)


def capped(score, b, h, i, j):
    return 2 * torch.tanh(score / 2) - SLOPES[h] * (i - j).abs()


def in_steps(score, b, h, i, j):
    return torch.where((i - j) % (h + 2) == b, -torch.inf, score * (j + 1))


def of_places_alone(score, b, h, i, j):
    return torch.cos((i - j).to(torch.float64))


@pytest.fixture
def inputs():
    generator = torch.Generator().manual_seed(0)
    shapes = [(B, HQ, TQ, D), (B, HK, TK, D), (B, HK, TK, D), (HQ,)]
    return [torch.randn(shape, dtype=torch.float64, generator=generator).requires_grad_() for shape in shapes]


def written_out(q, k, v, sinks, modify, visible):
    k, v = (x.repeat_interleave(HQ // HK, dim=1) for x in (k, v))
    scores = q @ k.mT * D**-0.5
    i, j = torch.arange(TQ)[:, None], torch.arange(TK)[None]
    rows = [[modify(scores[b, h], torch.tensor(b), torch.tensor(h), i, j) for h in range(HQ)] for b in range(B)]
    scores = torch.stack([torch.stack([x.expand(TQ, TK) for x in row]) for row in rows])
    scores = scores.masked_fill(~visible, -torch.inf)
    scores = torch.cat([scores, sinks[None, :, None, None].expand(B, HQ, TQ, 1)], dim=-1)
    return torch.softmax(scores, dim=-1)[..., :-1] @ v, scores.logsumexp(-1)


def with_gradients(results, weights, inputs):
    loss = sum((x * w).sum() for x, w in zip(results, weights, strict=True))
    return [*results, *torch.autograd.grad(loss, inputs, materialize_grads=True)]


@pytest.mark.parametrize("modify", [capped, in_steps, of_places_alone])
def test_results_and_gradients_are_those_of_pytorch(inputs, modify):
    visible = torch.ones(TQ, TK, dtype=torch.bool).tril(1)
    mine = qkv.torch.attention(*inputs[:3], mask=visible, sinks=inputs[3], score_mod=modify, return_lse=True)
    theirs = written_out(*inputs, modify, visible)
    weights = [torch.randn_like(x) for x in theirs]
    for x, y in zip(*(with_gradients(results, weights, inputs) for results in (mine, theirs)), strict=True):
        torch.testing.assert_close(x, y, rtol=1e-10, atol=1e-12)


def test_the_types_and_axes_of_q_come_back(inputs):
    q, k, v = (x[0].detach().to(torch.bfloat16).requires_grad_() for x in inputs[:3])
    out = qkv.torch.attention(q, k, v, score_mod=capped)
    assert out.dtype == torch.bfloat16 and out.shape == (HQ, TQ, D)
    out.float().sum().backward()
    assert k.grad.dtype == torch.bfloat16 and k.grad.shape == k.shape


def test_what_is_wrong_is_said(inputs):
    q, k, v, _ = inputs
    for option in ({"bias": "alibi"}, {"dropout": 0.5}, {"ragged": ([0, 6], [0, 7])}):
        (name,) = option
        with pytest.raises(ValueError, match=f"attention: {name}: expected none beside score_mod, got one"):
            qkv.torch.attention(q, k, v, score_mod=capped, **option)
    learnt = torch.ones((), requires_grad=True)
    with pytest.raises(ValueError, match=r"reads a tensor that records its gradient.*detach\(\) it"):
        qkv.torch.attention(q, k, v, score_mod=lambda score, b, h, i, j: score * learnt)
    with torch.no_grad():
        qkv.torch.attention(q, k, v, score_mod=lambda score, b, h, i, j: score * learnt)
    with pytest.raises(TypeError, match="expected a function that gives a tensor, got float"):
        qkv.torch.attention(q, k, v, score_mod=lambda score, b, h, i, j: 1.0)


def test_second_derivatives_are_refused(inputs):
    q, k, v, _ = inputs
    (d_q,) = torch.autograd.grad(qkv.torch.attention(q, k, v, score_mod=capped).sum(), q, create_graph=True)
    with pytest.raises(NotImplementedError, match="second derivatives are not there"):
        d_q.sum().backward()


def test_it_stands_between_compiled_parts(inputs):
    q, k, v, _ = inputs

    def layer(q):
        return 2 * qkv.torch.attention(q + 1, k, v, score_mod=capped)

    torch.testing.assert_close(torch.compile(layer, backend="eager")(q), layer(q))
