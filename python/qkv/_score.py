"""score_mod: attention whose scores a function of Python changes, on the reference, by blocks of queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from qkv import _qkv

if TYPE_CHECKING:
    from qkv._types import Float64Array, ScoreFunction, ScoreModification

MOST_BYTES = 16 << 20  # of one array of a block's scores


class Block(NamedTuple):
    """Some queries of one head: their scores before the function and after it, [queries, Tk], -inf where hidden."""

    b: int
    h: int
    queries: slice
    before: Float64Array
    after: Float64Array


class Changed:
    """The scores of a call, block by block. q [B, Hq, Tq, D] and k [B, Hk, Tk, D] are float64."""

    def __init__(
        self, function: str, q: Float64Array, k: Float64Array, score_mod: ScoreModification, options: dict[str, Any]
    ) -> None:
        self.name = function
        self.modify, self.derivative = functions_of(function, score_mod)
        self.shape = (*q.shape[:3], k.shape[2])
        self.softcap: float | None = options["softcap"]
        self.probe = _qkv.Probe(q, k, numpy.zeros(q.shape[:3]), **options)  # of an lse that no stage read here looks at

    def blocks(self) -> Iterator[Block]:
        B, H, Tq, Tk = self.shape
        rows = max(1, MOST_BYTES // (8 * max(Tk, 1)))
        for b, h in numpy.ndindex(B, H):
            for begin in range(0, Tq, rows):
                yield self.block(b, h, slice(begin, min(begin + rows, Tq)))

    def block(self, b: int, h: int, queries: slice) -> Block:
        before = numpy.asarray(self.probe.tile(h, b, queries=queries, stage="biased"), numpy.float64)
        hidden = numpy.isneginf(self.probe.tile(h, b, queries=queries, stage="masked"))
        after = self.told("score_mod", self.modify, b, h, queries, before)
        return Block(b, h, queries, before, numpy.where(hidden, -numpy.inf, after))

    def through(self, block: Block, d_after: Float64Array) -> Float64Array:
        """Gradients of the scores after the function as those of the scores before it and before the softcap."""
        assert self.derivative is not None
        slopes = self.told("score_mod", self.derivative, block.b, block.h, block.queries, block.before)
        if self.softcap is not None:
            capped = self.probe.tile(block.h, block.b, queries=block.queries, stage="softcapped")
            slopes = slopes * (1 - (capped / self.softcap) ** 2)
        return numpy.where(d_after == 0, 0.0, d_after * slopes)  # hidden pairs: whatever the derivative says there

    def told(
        self, word: str, function: ScoreFunction, b: int, h: int, queries: slice, score: Float64Array
    ) -> Float64Array:
        """What the function says of a block. It may write into the scores that it is given."""
        i, j = numpy.ogrid[queries, : score.shape[1]]
        said = numpy.asanyarray(function(score.copy(), numpy.asarray(b), numpy.asarray(h), i, j))
        if said.dtype.kind not in "fiub":
            raise TypeError(f"{self.name}: {word}: expected a function that gives numbers, got {said.dtype}")
        try:
            return numpy.broadcast_to(said, score.shape).astype(numpy.float64)
        except ValueError:
            raise ValueError(
                f"{self.name}: {word}: expected a function that gives what broadcasts to its scores "
                f"{score.shape}, got {said.shape}"
            ) from None


def functions_of(name: str, score_mod: ScoreModification) -> tuple[ScoreFunction, ScoreFunction | None]:
    """The function, and its derivative if that was given."""
    if callable(score_mod):
        return score_mod, None
    if isinstance(score_mod, tuple) and len(score_mod) == 2 and all(callable(one) for one in score_mod):
        return score_mod
    raise TypeError(
        f"{name}: score_mod: expected a function of (score, b, h, q_idx, k_idx), or a pair of it and its derivative "
        f"by the score, got {type(score_mod).__name__}"
    )


def attention(
    q: Float64Array,
    k: Float64Array,
    v: Float64Array,
    sinks: Float64Array | None,
    score_mod: ScoreModification,
    options: dict[str, Any],
) -> tuple[Float64Array, Float64Array]:
    """out [B, Hq, Tq, Dv] and lse [B, Hq, Tq]."""
    changed = Changed("attention", q, k, score_mod, options)
    group = q.shape[1] // max(k.shape[1], 1)
    out = numpy.zeros((*q.shape[:3], v.shape[3]))
    lse = numpy.full(q.shape[:3], -numpy.inf)
    for block in changed.blocks():
        place = (block.b, block.h, block.queries)
        values = v[block.b, block.h // group]
        # The scores go in as a bias of queries and keys that are 0: the engine knows what an empty row means.
        no_q, no_k = zeros_like_queries_and_keys(block)
        out[place], lse[place] = _qkv.attention(
            no_q, no_k, values, bias=block.after, sinks=of_head(sinks, block), return_lse=True
        )
    return out, lse


def zeros_like_queries_and_keys(block: Block) -> tuple[Float64Array, Float64Array]:
    rows, columns = block.after.shape
    return numpy.zeros((rows, 1)), numpy.zeros((columns, 1))


def of_head(sinks: Float64Array | None, block: Block) -> Float64Array | None:
    return None if sinks is None else sinks[block.h : block.h + 1]


def attention_backward(
    d_out: Float64Array,
    q: Float64Array,
    k: Float64Array,
    v: Float64Array,
    out: Float64Array,
    lse: Float64Array,
    d_lse: Float64Array | None,
    sinks: Float64Array | None,
    score_mod: ScoreModification,
    options: dict[str, Any],
) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array | None]:
    """d_q, d_k, d_v and d_sinks."""
    changed = Changed("attention_backward", q, k, score_mod, options)
    if changed.derivative is None:
        raise ValueError(
            "attention_backward: score_mod: expected a pair (function, its derivative by the score), got a function "
            "alone, which is not differentiated here"
        )
    group = q.shape[1] // max(k.shape[1], 1)
    scale = q.shape[3] ** -0.5 if options["scale"] is None else options["scale"]
    d_q, d_k, d_v = numpy.zeros_like(q), numpy.zeros_like(k), numpy.zeros_like(v)
    d_sinks = None if sinks is None else numpy.zeros_like(sinks)
    for block in changed.blocks():
        place, heads = (block.b, block.h, block.queries), (block.b, block.h // group)
        found = _qkv.attention_backward(
            d_out[place],
            *zeros_like_queries_and_keys(block),
            v[heads],
            out[place],
            lse[place],
            bias=block.after,
            sinks=of_head(sinks, block),
            d_lse=None if d_lse is None else d_lse[place],
            wants=["v", "bias", "sinks"],
        )
        d_scores = scale * changed.through(block, found.d_bias[0])
        d_q[place] = d_scores @ k[heads]
        d_k[heads] += d_scores.T @ q[place]
        d_v[heads] += numpy.asarray(found.d_v)
        if d_sinks is not None:
            d_sinks[block.h] += numpy.asarray(found.d_sinks)[0]
    return d_q, d_k, d_v, d_sinks
