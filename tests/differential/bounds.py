"""How far rounding may take each result from float64, to first order, from the problem's own numbers.

u is the unit of what a target computes in, `unit` that of the type that results (and on amx weights) are stored in. A
score is off by (D + 8) u of its terms' sizes, a softcap by 8 u of itself. A weight w is then off by e^(2 score) - 1 of
the smaller of w and of what the others weigh, since weights sum to 1; besides by exp's 4 u and the roundings of a sum.
"""

import numpy as np

LEAST = {"f16": 2.0**-24, "f32": 2.0**-118, "f64": 0}
STORED = {"f16": 2.0**-11, "f32": 2.0**-24, "f64": 2.0**-53}


def sizes(x):
    """Magnitudes; where NaN comes out, nothing is bounded."""
    return np.nan_to_num(np.abs(x), nan=0, posinf=0)


class Bounds:
    def __init__(self, problem, forward, target, terms):
        f = forward
        self.problem, self.f = problem, f
        exact = target == "reference"
        self.u = 2.0**-53 if exact else 2.0**-24
        self.unit = STORED[problem.dtype]
        D, Tk = problem.D, problem.Tk
        with np.errstate(all="ignore"):
            size = np.abs(problem.scale) * np.einsum("bhid,bhjd->bhij", sizes(f.q), sizes(f.k))
            cap = 0 if f.softcap is None else 8 * np.minimum(f.softcap, size)
            # A term of the bias may be held in f32 before it is added.
            biases = sum((np.abs(np.where(np.isfinite(t), t, 0)) for t in terms), np.zeros(f.x.shape))
            self.score = np.max(np.where(f.visible, self.u * ((D + 8) * size + cap + 4 * biases), 0), 3, initial=0)
            grown = np.expm1(np.minimum(2 * self.score, 50.0))[..., None]
            stored = 0 if exact else 2 * self.unit if problem.dtype == "f16" else 0
            self.weight = np.minimum(f.w, f.rest) * grown + f.w * ((Tk + 12) * self.u + stored)
            self.weight = np.where(f.visible, np.minimum(self.weight, 1) + LEAST["f32"] * (not exact), 0)
            lse = np.abs(np.where(np.isfinite(f.lse), f.lse, 0))
            lse_unit = 2.0**-53 if problem.dtype == "f64" else 2.0**-24
            self.lse = self.score + (Tk + 12) * self.u + (lse_unit + self.u) * lse
            self.y = self.weight * f.factor + 4 * self.u * f.y
            values = sizes(f.v)
            off = np.nan_to_num(self.y + (Tk + 2) * self.u * f.y, nan=0)
            self.out = np.einsum("bhij,bhjd->bhid", off, values) + self.unit * np.abs(f.out) + LEAST[problem.dtype]

    def gradients(self, b, d_out, out, d_lse):
        """d_q, d_k, d_v, by_biased and d_sinks; `out` as it was stored, so that e is off by its own sum alone."""
        f, u, p = self.f, self.u, self.problem
        with np.errstate(all="ignore"):
            size = sizes(d_out)
            # What was stored is itself off by rounding: of it, e has its exact sum.
            e = (p.Dv + 4) * u * ((size * sizes(out)).sum(3) + np.abs(d_lse))
            terms = np.einsum("bhid,bhjd->bhij", size, sizes(f.v)) * f.factor
            difference = np.abs(b.by_weights - b.e[..., None])
            of_difference = (p.Dv + 8) * u * terms + e[..., None]
            biased = self.weight * (difference + of_difference) + f.w * of_difference + 4 * u * np.abs(b.by_biased)
            biased = np.where(f.visible, biased, 0)
            slope = 0
            if f.softcap is not None:  # 1 - t^2, whose t is off by the score and by tanh
                slope = np.minimum(1, 2 * (self.score[..., None] / f.softcap + 8 * u))
            stored = 2 * self.unit if p.dtype == "f16" and u > 2.0**-50 else 0
            raw = np.abs(f.scale) * (biased * np.abs(b.slope) + (np.abs(b.by_biased) + biased) * slope)
            raw = raw + (4 * u + stored) * np.abs(b.by_raw)
            sums = (p.Tq + p.Tk + 8) * u
            k, q = sizes(f.k), sizes(f.q)
            size_raw = np.where(f.visible, sizes(b.by_raw), 0)
            raw = np.where(f.visible, np.nan_to_num(raw, nan=0), 0)
            d_q = np.einsum("bhij,bhjd->bhid", raw + sums * size_raw, k)
            d_k = np.einsum("bhij,bhid->bhjd", raw + sums * size_raw, q)
            y = np.where(f.visible, np.nan_to_num(self.y + (sums + stored) * f.y, nan=0), 0)
            d_v = np.einsum("bhij,bhid->bhjd", y, size)
            sink = np.minimum(f.sink_weight, f.w.sum(3)) * np.expm1(np.minimum(2 * self.score, 50)) \
                + f.sink_weight * (p.Tk + 12) * u
            of_sink = sink * (np.abs(b.e) + e) + f.sink_weight * e + 4 * u * f.sink_weight * np.abs(b.e)
        return d_q, d_k, d_v, biased, of_sink.sum((0, 2))
