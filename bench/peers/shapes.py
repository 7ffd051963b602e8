"""The shapes that are timed, their inputs, and what they cost on paper."""

import dataclasses

import numpy as np

SEED = 0
DIRECTIONS = ("forward", "backward", "training", "models")
WITHOUT_SHAPES = ("training", "models")
PRODUCTS = {"forward": 2, "backward": 5}


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

    def flops(self, direction="forward"):
        """2 D operations a score for each product: two forward, five backward."""
        return 2 * PRODUCTS[direction] * self.d * self.scores()

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

    def d_out(self):
        """The gradient that comes back to every peer, likewise."""
        random = np.random.default_rng(SEED + 2)
        return random.standard_normal((self.b, self.hq, self.tq, self.d), dtype=np.float32)


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
        Shape("H", 1, 32, 8, 1, 65536, 128),  # from memory
        Shape("I", 8, 32, 8, 1, 8192, 128),  # the same bytes for a batch
    )
}

BACKWARD_SHAPES = "BCDG"
BACKWARD_DTYPES = ("f32", "bf16")


def timed(direction, names):
    """Of the shapes called so, those that are timed in this direction. A training step has its own."""
    chosen = {"forward": SHAPES, "backward": BACKWARD_SHAPES}.get(direction, "")
    return [SHAPES[name] for name in names if name in chosen]


def timed_dtypes(direction, dtypes):
    return [dtype for dtype in dtypes if direction == "forward" or dtype in BACKWARD_DTYPES]
