"""Random problems: options as the command takes them, and what they mean as arrays."""

import numpy as np

import meaning


def whole(rng, low, high):
    return int(rng.integers(low, high + 1))


def one_mask(rng, B, Tq, Tk):
    """A mask's text, and what sees what, [B, 1, Tq, Tk]."""
    top_left = bool(rng.integers(2))
    p, j = meaning.positions(Tq, Tk, top_left), np.arange(Tk)[None]
    aligned = "top_left" if top_left else "bottom_right"
    n, m = whole(rng, 0, max(1, Tk // 2)), whole(rng, 1, max(1, Tk // 2))
    lengths = [whole(rng, 0, Tk) for _ in range(B)]
    by_length = np.array(lengths)[:, None, None, None] > j
    blocks = rng.integers(0, 2, (-(-Tq // 3), -(-Tk // 3)))
    block_text = "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in blocks) + "]"
    sees = lambda seen: np.broadcast_to(seen, (B, 1, Tq, Tk))
    choices = [
        ("all", sees(True)),
        (f"causal({aligned})", sees(j <= p)),
        (f"causal({aligned}, offset={n})", sees(j <= p + n)),
        (f"window({m}, {aligned})", sees((p - m < j) & (j < p + m))),
        (f"window(left={n}, right={m}, {aligned})", sees((p - n <= j) & (j <= p + m))),
        (f"window(left={n}, {aligned})", sees(p - n <= j)),
        (f"prefix({n})", sees(j < n)),
        (f"keys({', '.join(map(str, lengths))})", sees(by_length)),
        (f"strided({m}, {aligned})", sees((p - j) % m == 0)),
        (f"dilated({m}, 2, {aligned})", sees((abs(p - j) < 2 * m) & ((p - j) % 2 == 0))),
        (f"global({n}, {aligned})", sees(((0 <= p) & (p < n)) | (j < n))),
        (f"blocks(3, {block_text})", sees(np.repeat(np.repeat(blocks == 1, 3, 0), 3, 1)[:Tq, :Tk])),
    ]
    return choices[whole(rng, 0, len(choices) - 1)]


def any_mask(rng, B, Tq, Tk):
    text, seen = one_mask(rng, B, Tq, Tk)
    other, others = one_mask(rng, B, Tq, Tk)
    kind = whole(rng, 0, 5)
    if kind == 0:
        return f"({text}) & ({other})", seen & others
    if kind == 1:
        return f"({text}) | ({other})", seen | others
    if kind == 2:
        return f"!({text})", ~seen
    return text, seen


class Problem:
    """Of case `number` of `seed`."""

    def __init__(self, seed, number):
        rng = np.random.default_rng([seed, number])
        self.dtype = ["f32", "f32", "f16", "f64"][whole(rng, 0, 3)]
        self.B, self.Hk, self.group = whole(rng, 1, 2), whole(rng, 1, 2), whole(rng, 1, 3)
        self.H = self.Hk * self.group
        self.Tq, self.Tk = whole(rng, 1, 80), whole(rng, 1, 150)
        self.D, self.Dv = whole(rng, 1, 70), whole(rng, 1, 40)
        self.flags = []
        self.draw_inputs(rng)
        self.draw_options(rng)

    def shape(self):
        return self.B, self.H, self.Tq, self.Tk

    def draw_inputs(self, rng):
        # Scores of up to about 10^6, evenly over their exponents; f16 ends at 65504.
        size = 10 ** rng.uniform(0, 4 if self.dtype == "f16" else 6) if rng.integers(2) else 1
        numpy_type = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[self.dtype]
        normal = lambda *shape: rng.standard_normal(shape)
        self.q = (size * normal(self.B, self.H, self.Tq, self.D)).astype(numpy_type)
        self.k = normal(self.B, self.Hk, self.Tk, self.D).astype(numpy_type)
        self.v = normal(self.B, self.Hk, self.Tk, self.Dv).astype(numpy_type)
        self.d_out = normal(self.B, self.H, self.Tq, self.Dv).astype(numpy_type)
        wide = np.float64 if self.dtype == "f64" else np.float32
        self.d_lse = normal(self.B, self.H, self.Tq).astype(wide) if rng.integers(2) else None
        if rng.integers(8) == 0:
            self.equal_keys()
        self.has_nan = rng.integers(6) == 0
        for _ in range(whole(rng, 1, 3) if self.has_nan else 0):
            x = [self.q, self.k, self.v][whole(rng, 0, 2)]
            x[tuple(whole(rng, 0, n - 1) for n in x.shape)] = np.nan

    def equal_keys(self):
        self.k[:] = self.k[:, :, :1]

    def draw_options(self, rng):
        shape = self.shape()
        self.scale = [1 / np.sqrt(self.D), 1 / np.sqrt(self.D), 0.7, -0.3, 0.0][whole(rng, 0, 4)]
        self.softcap = [None, None, 5.0, 300.0][whole(rng, 0, 3)]
        text, seen = any_mask(rng, self.B, self.Tq, self.Tk)
        self.visible = np.broadcast_to(seen, shape)
        self.dropout = (round(float(rng.uniform(0.05, 0.9)), 2), whole(rng, 0, 2**40)) if rng.integers(3) == 0 else None
        self.sinks = np.round(rng.uniform(-2, 9, self.H), 3) if rng.integers(3) == 0 else None
        self.flags += ["--mask", text, f"--scale={float(self.scale)!r}"]
        if self.softcap is not None:
            self.flags += ["--softcap", repr(float(self.softcap))]
        if self.dropout is not None:
            self.flags += ["--dropout", repr(self.dropout[0]), "--seed", str(self.dropout[1])]
        if self.sinks is not None:
            self.flags.append("--sinks=" + ",".join(repr(float(s)) for s in self.sinks))
        self.draw_biases(rng)

    def draw_biases(self, rng):
        """Terms of the bias as [B, H, Tq, Tk], with how each one's gradient follows from that of the scores."""
        B, H, Tq, Tk = self.shape()
        self.bias_file, self.terms = None, []
        j = np.arange(Tk)[None]
        if rng.integers(3) == 0:
            p = meaning.positions(Tq, Tk, False)
            slopes = meaning.alibi_slopes(H)[:, None, None]
            self.flags += ["--bias", "alibi"]
            distance = -abs(p - j).astype(float)
            self.terms.append((slopes * distance, lambda a: (a * distance).sum((0, 2, 3))))
        elif rng.integers(3) == 0:
            buckets, distance = 2 * whole(rng, 2, 8), whole(rng, 20, 60)
            both = bool(rng.integers(2))
            table = np.round(rng.standard_normal((buckets, H)), 3)
            rows = ", ".join("[" + ", ".join(repr(float(x)) for x in row) + "]" for row in table)
            direction = "bidirectional" if both else "unidirectional"
            self.flags += ["--bias", f"t5(table=[{rows}], max_distance={distance}, {direction})"]
            relative = j - meaning.positions(Tq, Tk, False)
            bucket = np.vectorize(lambda r: meaning.t5_bucket(int(r), buckets, distance, both))(relative)
            spread = np.stack([bucket == n for n in range(buckets)])
            # Not a product with zeros: a NaN is of its own bucket alone.
            self.terms.append((np.moveaxis(table[bucket], 2, 0),
                               lambda a: np.stack([np.where(s, a, 0).sum((0, 2, 3)) for s in spread])))
        if rng.integers(3) == 0:
            shape = [(1, 1, 1, Tk), (H, Tq, Tk), (Tq, Tk), (H, 1, 1), (B, 1, Tq, 1)][whole(rng, 0, 4)]
            size = 10 ** rng.uniform(0, 5) if rng.integers(4) == 0 else 1
            values = (size * rng.standard_normal(shape)).astype(np.float32)
            values[rng.random(shape) < 0.05] = -np.inf
            if rng.integers(3) == 0 and self.dtype != "f64":
                values = values.astype(np.float64)
                values[rng.random(shape) < 0.1] = rng.choice([-1e39, -1e300, np.finfo(np.float64).min])
            self.bias_file = values
            self.terms.append((values.astype(float), lambda a: summed_to(a, values)))
        self.bias = np.zeros(self.shape())
        for term, _ in self.terms:
            self.bias = self.bias + term


def summed_to(a, values):
    """Sums over what `values` is repeated along; a number of -inf has gradient 0."""
    full = (1,) * (4 - values.ndim) + values.shape
    axes = tuple(n for n in range(4) if full[n] == 1 and a.shape[n] != 1)
    total = a.sum(axes, keepdims=True).reshape(values.shape)
    return np.where(values == -np.inf, 0, total)
