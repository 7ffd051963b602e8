"""The shapes that are timed, their inputs, and what they cost on paper."""

import dataclasses
import math

import numpy as np

SEED = 0


@dataclasses.dataclass(frozen=True)
class Shape:
    name: str
    b: int
    hq: int
    hk: int
    tq: int
    tk: int
    d: int
    causal: bool = False

    def __str__(self):
        text = f"({self.b},{self.hq},{self.hk},{self.tq},{self.tk},{self.d})"
        return text + (" causal" if self.causal else "")

    @property
    def mask(self):
        return "causal()" if self.causal else "all()"

    def scores(self):
        """Pairs that the mask lets see each other, over all heads. Causal shapes have Tq = Tk."""
        pairs = self.tq * (self.tq + 1) // 2 if self.causal else self.tq * self.tk
        return self.b * self.hq * pairs

    def flops(self):
        """Two products of 2 D operations a score."""
        return 4 * self.d * self.scores()

    def kv_bytes(self, element_bytes):
        return 2 * self.b * self.hk * self.tk * self.d * element_bytes

    def traffic_bytes(self, element_bytes):
        """q, k and v read once, out written once."""
        return self.kv_bytes(element_bytes) + 2 * self.b * self.hq * self.tq * self.d * element_bytes

    def inputs(self):
        """q, k, v in f32, standard normal, the same for every peer."""
        random = np.random.default_rng(SEED)
        q = random.standard_normal((self.b, self.hq, self.tq, self.d), dtype=np.float32)
        k = random.standard_normal((self.b, self.hk, self.tk, self.d), dtype=np.float32)
        v = random.standard_normal((self.b, self.hk, self.tk, self.d), dtype=np.float32)
        return q, k, v


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("A", 1, 12, 12, 512, 512, 64),
        Shape("B", 1, 16, 16, 2048, 2048, 64),
        Shape("C", 1, 16, 16, 2048, 2048, 64, causal=True),
        Shape("D", 1, 32, 8, 4096, 4096, 128, causal=True),
        Shape("E", 1, 32, 8, 1, 16384, 128),
        Shape("F", 8, 12, 12, 128, 128, 64),
        Shape("G", 1, 8, 8, 16384, 16384, 64, causal=True),
    )
}


class Oracle:
    """Attention in float64 at sampled rows: at least 256 of each shape, or all where there are fewer."""

    ROWS = 256

    def __init__(self, shape, q, k, v):
        self.shape = shape
        heads = shape.b * shape.hq
        rows_of_a_head = min(shape.tq, math.ceil(self.ROWS / heads))
        random = np.random.default_rng(SEED + 1)
        self.places, self.rows = [], []
        for head in range(heads):
            b, h = divmod(head, shape.hq)
            i = np.sort(random.choice(shape.tq, rows_of_a_head, replace=False))
            self.places.append((b, h, i))
            key_head = h // (shape.hq // shape.hk)
            self.rows.append(self._rows(q[b, h, i], k[b, key_head], v[b, key_head], i))

    def _rows(self, q, k, v, i):
        scores = q.astype(np.float64) @ k.astype(np.float64).T / math.sqrt(self.shape.d)
        if self.shape.causal:
            scores[np.arange(self.shape.tk) > i[:, None]] = -np.inf
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return weights @ v.astype(np.float64) / weights.sum(axis=1, keepdims=True)

    def count(self):
        return sum(len(i) for _, _, i in self.places)

    def error(self, out):
        """(largest absolute error, root mean square of the error over that of the rows)."""
        worst, square, whole = 0.0, 0.0, 0.0
        for (b, h, i), rows in zip(self.places, self.rows):
            error = out[b, h, i].astype(np.float64) - rows
            worst = max(worst, float(np.abs(error).max()))
            square += float((error**2).sum())
            whole += float((rows**2).sum())
        return worst, math.sqrt(square / whole)
