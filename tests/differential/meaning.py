"""Attention and its gradients in float64, written from docs/semantics.md and docs/masks.md alone.

All arrays are [B, H, Tq, Tk] or [B, H, T, D], heads of k and v already repeated. What hides is boolean, True sees.
"""

import numpy as np

MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
WEYL = (0x9E3779B9, 0xBB67AE85)
LOW = np.uint64(0xFFFFFFFF)
WORD = np.uint64(32)


def philox(counter, seed):
    """Philox4x32-10 of four arrays of counters: four arrays of words of 32 bits."""
    key = [seed % 2**32, seed // 2**32]
    c = [np.asarray(x, np.uint64) for x in counter]
    for _ in range(10):
        first, second = MULTIPLIERS[0] * c[0], MULTIPLIERS[1] * c[2]
        c = [(second >> WORD) ^ c[1] ^ np.uint64(key[0]), second & LOW,
             (first >> WORD) ^ c[3] ^ np.uint64(key[1]), first & LOW]
        key = [(key[0] + WEYL[0]) % 2**32, (key[1] + WEYL[1]) % 2**32]
    return c


def dropout_keeps(shape, p, seed):
    b, h, i, j = np.indices(shape)
    words = np.stack(philox([j // 4, i, h, b], seed))
    word = np.take_along_axis(words, (j % 4)[None], 0)[0]
    return word >= np.uint64(int(np.floor(p * 2**32)))


def positions(Tq, Tk, top_left):
    return np.arange(Tq)[:, None] + (0 if top_left else Tk - Tq)


def t5_bucket(relative, buckets, max_distance, bidirectional):
    """Of one relative position j - p; a bucket begins at the first distance that reaches it, in exact arithmetic."""
    side, base = buckets, 0
    if bidirectional:
        side = buckets // 2
        base = side if relative > 0 else 0
    elif relative > 0:
        return 0
    distance, exact = abs(relative), side // 2
    if distance < exact:
        return base + distance
    bucket = exact
    while bucket + 1 < side:
        # (distance / exact)^n >= (max_distance / exact)^(bucket + 1 - exact), in whole numbers
        n, m = side - exact, bucket + 1 - exact
        if distance**n * exact**m < max_distance**m * exact**n:
            break
        bucket += 1
    return base + bucket


def alibi_slopes(heads):
    def of_power(n):
        return [2.0 ** (-8.0 * (k + 1) / n) for k in range(n)]

    power = 2 ** int(np.floor(np.log2(heads)))
    slopes = of_power(power)
    return np.array(slopes + of_power(2 * power)[0::2][: heads - power])


def over_visible(numbers, rows, seen, spec):
    """Sums of numbers * rows over visible pairs: what a forbidden pair's row holds does not matter."""
    if np.isfinite(rows).all():
        return np.einsum(spec, np.where(seen, numbers, 0), rows)
    i = "bhid" in spec.split("->")[0]
    spread = rows[:, :, :, None] if i else rows[:, :, None]
    return np.where(seen[..., None], numbers[..., None] * spread, 0).sum(2 if i else 3)


def as_taken(bias, dtype):
    """Where q is not f64, a sum of biases beyond the range of f32 is infinite."""
    if dtype == np.float64:
        return bias
    with np.errstate(over="ignore"):
        rounded = bias.astype(np.float32).astype(float)
    return np.where(np.isinf(rounded), rounded, bias)


class Forward:
    """Every stage of one call. `sinks` [H] or None; `bias` and `visible` [B, H, Tq, Tk]."""

    def __init__(self, q, k, v, scale, softcap, bias, visible, dropout, sinks, dtype=np.dtype("f8")):
        self.q, self.k, self.v, self.scale, self.softcap, self.dropout, self.sinks = q, k, v, scale, softcap, dropout, sinks
        with np.errstate(all="ignore"):
            scaled = scale * np.einsum("bhid,bhjd->bhij", q, k)
            self.softcapped = scaled if softcap is None else softcap * np.tanh(scaled / softcap)
            bias = as_taken(bias, dtype)
            biased = self.softcapped + bias
            self.visible = visible & (bias != -np.inf) & (biased != -np.inf)
            self.x = np.where(self.visible, biased, -np.inf)
            self.run()

    def run(self):
        x, shape = self.x, self.x.shape
        sink = np.full(shape[:3], -np.inf) if self.sinks is None else np.broadcast_to(self.sinks[:, None], shape[:3])
        top = np.maximum(np.max(x, axis=3, initial=-np.inf), sink)
        shift = np.where(top == -np.inf, 0, top)[..., None]
        powers = np.where(self.visible, np.exp(x - shift), 0)
        sink_power = np.where(sink == -np.inf, 0, np.exp(sink - shift[..., 0]))
        z = powers.sum(3) + sink_power
        empty = z == 0
        z = np.where(empty, 1, z)
        self.lse = np.where(empty, -np.inf, shift[..., 0] + np.log(z))
        self.w = np.where(self.visible, powers / z[..., None], 0)  # also in a NaN row
        self.sink_weight = sink_power / z
        # What the other keys and the sink weigh together: 1 - w without its rounding.
        self.rest = np.where(self.visible, (z[..., None] - powers) / z[..., None], 0)
        largest = powers.argmax(3)[..., None] if shape[3] else None
        if largest is not None:
            others = powers.copy()
            np.put_along_axis(others, largest, 0, 3)
            rest = (others.sum(3) + sink_power) / z
            np.put_along_axis(self.rest, largest, rest[..., None], 3)
        self.factor = np.ones(shape)
        if self.dropout is not None:
            p, seed = self.dropout
            self.factor = np.where(dropout_keeps(shape, p, seed), 1 / (1 - p), 0)
        self.y = np.where(self.visible, self.w * self.factor, 0)  # NaN * 0 is NaN
        self.out = over_visible(self.y, self.v, self.visible, "bhij,bhjd->bhid")


class Backward:
    """The gradients of a loss; `out` as it was stored."""

    def __init__(self, forward, d_out, out, d_lse):
        f = forward
        with np.errstate(all="ignore"):
            self.e = np.where(out == 0, 0, d_out * out).sum(3) - d_lse
            dropped = np.einsum("bhid,bhjd->bhij", d_out, f.v)
            self.by_weights = np.where(f.factor == 0, 0, dropped * f.factor)
            self.by_biased = np.where(f.visible, f.w * (self.by_weights - self.e[..., None]), 0)
            self.slope = np.ones_like(f.x) if f.softcap is None else 1 - (f.softcapped / f.softcap) ** 2
            self.by_raw = np.where(f.visible, f.scale * self.by_biased * self.slope, 0)
            self.d_q = over_visible(self.by_raw, f.k, f.visible, "bhij,bhjd->bhid")
            self.d_k = over_visible(self.by_raw, f.q, f.visible, "bhij,bhid->bhjd")
            self.d_v = over_visible(f.y, d_out, f.visible, "bhij,bhid->bhjd")
            self.d_sinks = (-f.sink_weight * self.e).sum((0, 2))
