"""Attention and its gradients in float64, which every peer is held against."""

import math

import numpy as np

from .shapes import SEED


class ForwardOracle:
    """Attention in float64 at sampled rows: at least 256 of each shape, or all where there are fewer."""

    ROWS = 256

    def __init__(self, shape, q, k, v):
        self.shape = shape
        heads = shape.b * shape.hq
        random = np.random.default_rng(SEED + 1)
        self.places, self.rows = [], []
        for head in range(heads):
            b, h = divmod(head, shape.hq)
            queries, keys = (shape.lengths[b],) * 2 if shape.lengths else (shape.tq, shape.tk)
            i = np.sort(random.choice(queries, min(queries, math.ceil(self.ROWS / heads)), replace=False))
            self.places.append((b, h, i))
            key_head = h // (shape.hq // shape.hk)
            self.rows.append(self._rows(q[b, h, i], k[b, key_head, :keys], v[b, key_head, :keys], i))

    def _rows(self, q, k, v, i):
        scores = q.astype(np.float64) @ k.astype(np.float64).T / math.sqrt(self.shape.d)
        if self.shape.causal:
            scores[np.arange(self.shape.tk) > i[:, None]] = -np.inf
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return weights @ v.astype(np.float64) / weights.sum(axis=1, keepdims=True)

    def extent(self):
        return f"{sum(len(i) for _, _, i in self.places)} rows"

    def error(self, peer):
        """(largest absolute error, root mean square of the error over that of the rows)."""
        out = peer.out()
        worst, square, whole = 0.0, 0.0, 0.0
        for (b, h, i), rows in zip(self.places, self.rows):
            error = out[b, h, i].astype(np.float64) - rows
            worst = max(worst, float(np.abs(error).max()))
            square += float((error**2).sum())
            whole += float((rows**2).sum())
        return worst, math.sqrt(square / whole)


class BackwardOracle:
    """The gradients of the last batch entry's middle key head and of all query heads that read it."""

    CHUNK = 1 << 22  # scores that are held at once

    def __init__(self, shape, q, k, v, d_out):
        group = shape.hq // shape.hk
        self.shape = shape
        self.key_head = shape.hk // 2
        self.heads = slice(self.key_head * group, (self.key_head + 1) * group)
        self.k, self.v = (x[-1, self.key_head].astype(np.float64) for x in (k, v))
        d_q = np.zeros((group, shape.tq, shape.d))
        d_k, d_v = np.zeros_like(self.k), np.zeros_like(self.v)
        rows = max(1, self.CHUNK // shape.tk)
        for head in range(group):
            for first in range(0, shape.tq, rows):
                i = np.arange(first, min(first + rows, shape.tq))
                place = (-1, self.heads.start + head, i)
                d_q[head, i] = self._add(q[place].astype(np.float64), d_out[place].astype(np.float64), i, d_k, d_v)
        self.gradients = (d_q, d_k, d_v)

    def _add(self, q, d_out, i, d_k, d_v):
        """d_q of the queries i, whose shares are added to d_k and d_v."""
        scale = 1 / math.sqrt(self.shape.d)
        seen = i[-1] + 1 if self.shape.causal else self.shape.tk
        k, v = self.k[:seen], self.v[:seen]
        weights = q @ k.T
        weights *= scale
        if self.shape.causal:
            weights[np.arange(seen) > i[:, None]] = -np.inf
        weights -= weights.max(axis=1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=1, keepdims=True)
        d_scores = d_out @ v.T
        delta = np.einsum("ij,ij->i", weights, d_scores)
        d_scores -= delta[:, None]
        d_scores *= weights
        d_scores *= scale
        d_k[:seen] += d_scores.T @ q
        d_v[:seen] += weights.T @ d_out
        return d_scores @ k

    def extent(self):
        return f"{self.heads.stop - self.heads.start} of {self.shape.hq} query heads"

    def error(self, peer):
        """The worst of d_q, d_k and d_v: (largest absolute error, root mean square of the error over the gradient's)."""
        d_q, d_k, d_v = peer.gradients()
        found = (d_q[-1, self.heads], d_k[-1, self.key_head], d_v[-1, self.key_head])
        errors = [(x.astype(np.float64) - exact, exact) for x, exact in zip(found, self.gradients)]
        largest = max(float(np.abs(error).max()) for error, _ in errors)
        return largest, max(math.sqrt((error**2).sum() / (exact**2).sum()) for error, exact in errors)


ORACLES = {"forward": ForwardOracle, "calls": ForwardOracle, "backward": BackwardOracle}
