"""The shapes that are timed, their inputs, and what they cost on paper."""

import dataclasses

import numpy as np

SEED = 0
DIRECTIONS = ("forward", "calls", "backward", "training", "models")
WITHOUT_SHAPES = ("training", "models")
PRODUCTS = {"forward": 2, "calls": 2, "backward": 5}


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
    lengths: tuple[int, ...] = ()  # of texts that are padded to Tq = Tk at their ends; none: without padding

    def __str__(self):
        text = f"({self.b},{self.hq},{self.hk},{self.tq},{self.tk},{self.d})"
        ragged = f" padded, {min(self.lengths)} to {max(self.lengths)} of them kept" if self.lengths else ""
        return text + (" causal" if self.causal else "") + ragged

    @property
    def decodes(self):
        """One new query over a cache."""
        return self.tq == 1 and self.tk > 1

    @property
    def mask(self):
        if self.lengths:
            return f"keys({', '.join(map(str, self.lengths))})"
        return "causal()" if self.causal else "all()"

    def visible(self):
        """Of a padded shape: true where there is a token, [B, T]."""
        return np.arange(self.tk) < np.array(self.lengths)[:, None]

    def tokens(self):
        """Queries over the batch, without padding."""
        return sum(self.lengths) or self.b * self.tq

    def scores(self):
        """Pairs of tokens that the mask lets see each other, over all heads. Causal shapes have Tq = Tk."""
        if self.lengths:
            return self.hq * sum(length * length for length in self.lengths)
        pairs = self.tq * (self.tq + 1) // 2 if self.causal else self.tq * self.tk
        return self.b * self.hq * pairs

    def flops(self, direction="forward"):
        """2 D operations a score for each product: two forward, five backward."""
        return 2 * PRODUCTS[direction] * self.d * self.scores()

    def kv_bytes(self, element_bytes):
        keys = sum(self.lengths) or self.b * self.tk
        return 2 * keys * self.hk * self.d * element_bytes

    def traffic_bytes(self, element_bytes):
        """q, k and v read once, out written once."""
        return self.kv_bytes(element_bytes) + 2 * self.tokens() * self.hq * self.d * element_bytes

    def inputs(self):
        """q, k, v in f32, standard normal, the same for every peer."""
        random = np.random.default_rng(SEED)
        q = random.standard_normal((self.b, self.hq, self.tq, self.d), dtype=np.float32)
        k = random.standard_normal((self.b, self.hk, self.tk, self.d), dtype=np.float32)
        v = random.standard_normal((self.b, self.hk, self.tk, self.d), dtype=np.float32)
        return q, k, v

    def d_out(self):
        """The gradient that comes back to every peer, likewise."""
        random = np.random.default_rng(SEED + 2)
        return random.standard_normal((self.b, self.hq, self.tq, self.d), dtype=np.float32)


def lengths_of_texts(count, shortest, longest):
    """As many texts of each length as of any other, in random order."""
    lengths = np.linspace(shortest, longest, count).round().astype(int)
    return tuple(np.random.default_rng(SEED).permutation(lengths).tolist())


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
        Shape("H", 256, 12, 12, 64, 64, 64, lengths=lengths_of_texts(256, 16, 64)),
        Shape("I", 1, 32, 8, 1, 65536, 128),  # from memory
        Shape("J", 8, 32, 8, 1, 8192, 128),  # the same bytes for a batch
    )
}
# Calls so short that setting them up counts.
CALLS = {shape.name: shape for shape in (Shape(f"T={t}", 1, 8, 8, t, t, 64) for t in (1, 4, 16, 64))}
ALL = SHAPES | CALLS

BACKWARD_SHAPES = "BCDG"
BACKWARD_DTYPES = ("f32", "bf16")


def timed(direction, names):
    """Of the shapes called so, those that are timed in this direction. A training step has its own."""
    if direction == "calls":
        return list(CALLS.values())
    chosen = {"forward": SHAPES, "backward": BACKWARD_SHAPES}.get(direction, "")
    return [SHAPES[name] for name in names if name in chosen]


def backward_dtypes(dtypes):
    """Of "f32,bf16,…" those that have gradients here."""
    return [dtype for dtype in dtypes.split(",") if dtype in BACKWARD_DTYPES]


def timed_dtypes(direction, dtypes, shape):
    """Of "f32,bf16,…" those that are timed so. Only caches are in i8."""
    if direction == "backward":
        return backward_dtypes(dtypes)
    return [dtype for dtype in dtypes.split(",") if dtype != "i8" or shape.decodes]
