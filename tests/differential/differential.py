#!/usr/bin/env python3
"""Runs random problems through the qkv command on every target of the machine, and compares what it writes with
float64 written from docs/semantics.md (meaning.py), within bounds that follow from each problem (bounds.py).

The first difference ends it, with the line that repeats it.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed; `make differential` brings its own")
    raise SystemExit(0)

import bounds
import meaning
from problems import Problem


class Difference(Exception):
    pass


def targets_of(qkv):
    info = json.loads(subprocess.run([qkv, "info", "--json"], check=True, capture_output=True, text=True).stdout)
    return [t["name"] for t in info["targets"] if t["compiled"] and t["runs_here"]]


def compare(name, got, expected, bound, unit):
    """NaN where it is expected and only there; elsewhere within the bound and a rounding to the stored type."""
    got = np.asarray(got, np.float64).reshape(expected.shape)
    bound = np.broadcast_to(np.where(np.isnan(bound), 0, bound), expected.shape)
    same_nan = np.isnan(got) == np.isnan(expected)
    with np.errstate(all="ignore"):
        near = np.abs(got - expected) <= bound + unit * np.abs(expected) + 2.0**-149
    wrong = ~(same_nan & (np.isnan(expected) | near | (got == expected)))
    if wrong.any():
        at = tuple(int(n) for n in np.argwhere(wrong)[0])
        raise Difference(f"{name}{list(at)} is {got[at]!r}, expected {expected[at]!r} give or take {bound[at]:.3g} "
                         f"({int(wrong.sum())} of {wrong.size} differ)")


class Case:
    """One problem, its files in `folder`, and what it means."""

    def __init__(self, seed, number, folder):
        p = self.p = Problem(seed, number)
        self.folder = folder
        repeated = lambda x: np.repeat(x.astype(np.float64), p.group, 1)
        self.forward = meaning.Forward(p.q.astype(np.float64), repeated(p.k), repeated(p.v), p.scale, p.softcap, p.bias,
                                       p.visible, p.dropout, p.sinks, p.q.dtype)
        self.inputs = {"q": p.q, "k": p.k, "v": p.v, "d_out": p.d_out, "d_lse": p.d_lse, "bias": p.bias_file}
        for name, values in self.inputs.items():
            if values is not None:
                np.save(folder / f"{name}.npy", values)

    def command(self, qkv, target):
        file = lambda name: str(self.folder / f"{name}.npy")
        words = [qkv, "attend", "--quiet", "--target", target, *self.p.flags]
        for name in ("q", "k", "v"):
            words += [f"--{name}", file(name)]
        if self.p.bias_file is not None:
            words += ["--bias-file", file("bias")]
        if self.p.d_lse is not None:
            words += ["--d-lse", file("d_lse")]
        for name in ("out", "lse", "weights"):
            words += [f"--{name}", file(f"got_{name}")]
        return words + ["--d-out", file("d_out"), "--gradients", str(self.folder / "got.npz")]

    def check(self, qkv, target, spoiled):
        run = subprocess.run(self.command(qkv, target), capture_output=True, text=True)
        if run.returncode != 0:
            raise Difference(run.stderr.strip())
        p, f = self.p, self.forward
        got = {name: np.load(self.folder / f"got_{name}.npy") for name in ("out", "lse", "weights")}
        within = bounds.Bounds(p, f, target, [term for term, _ in p.terms])
        single = 2.0**-53 if p.dtype == "f64" else 2.0**-24
        if spoiled in got:
            got[spoiled] = got[spoiled] * 1.25
        compare("lse", got["lse"], f.lse, within.lse, single)
        compare("weights", got["weights"], f.w, within.weight, single)
        compare("out", got["out"], f.out, within.out, within.unit)
        gradients = dict(np.load(self.folder / "got.npz"))
        if spoiled in gradients:
            gradients[spoiled] = gradients[spoiled] * 1.25
        self.check_gradients(gradients, got["out"].astype(np.float64), within, single)
        self.check_probe(qkv, target, within, single)

    def check_gradients(self, got, out, within, single):
        p, f = self.p, self.forward
        d_out = p.d_out.astype(np.float64)
        d_lse = np.zeros(f.lse.shape) if p.d_lse is None else p.d_lse.astype(np.float64)
        b = meaning.Backward(f, d_out, out, d_lse)
        d_q, d_k, d_v, biased, sinks = within.gradients(b, d_out, out, d_lse)
        by_key_head = lambda x: x.reshape(p.B, p.Hk, p.group, p.Tk, -1).sum(2)
        least = bounds.LEAST[p.dtype]
        compare("d_q", got["d_q"], b.d_q, d_q + least, within.unit)
        compare("d_k", got["d_k"], by_key_head(b.d_k), by_key_head(d_k) + least, within.unit)
        compare("d_v", got["d_v"], by_key_head(b.d_v), by_key_head(d_v) + least, within.unit)
        for n, (_, gradient) in enumerate(p.terms):
            bound = np.abs(gradient(biased)) + p.Tk * within.u * np.abs(gradient(np.abs(b.by_biased)))
            compare(f"d_bias_{n}", got[f"d_bias_{n}"], gradient(b.by_biased), bound, single)
        if p.sinks is not None:
            compare("d_sinks", got["d_sinks"], b.d_sinks, sinks, single)

    def check_probe(self, qkv, target, within, single):
        """A row of weights, made again from lse."""
        p, f = self.p, self.forward
        i = p.Tq // 2
        words = self.command(qkv, target)
        options = words[words.index("--target"):words.index("--v")]
        bias = ["--bias-file", str(self.folder / "bias.npy")] if p.bias_file is not None else []
        run = subprocess.run([qkv, "probe", "--quiet", *options, *bias, "--lse", str(self.folder / "got_lse.npy"),
                              "--batch", str(p.B - 1), "--head", str(p.H - 1), "--row", str(i), "--stage", "dropped",
                              "--npy", str(self.folder / "row.npy")], capture_output=True, text=True)
        if run.returncode != 0:
            raise Difference("probe: " + run.stderr.strip())
        # exp(x - lse), with lse rounded once as it was stored.
        lse = f.lse[-1, -1, i]
        rounded = 2 * single * np.abs(lse) if np.isfinite(lse) else 0
        bound = within.weight[-1, -1, i] * f.factor[-1, -1, i] + (4 * within.u + rounded) * np.abs(f.y[-1, -1, i])
        compare("probe row", np.load(self.folder / "row.npy"), f.y[-1, -1, i], bound, single)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--qkv", required=True, help="the command")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spoil", help="a result to multiply by 1.25 first: the comparison must be able to fail")
    chosen = parser.parse_args()
    targets = targets_of(chosen.qkv)
    for number in range(chosen.first, chosen.first + chosen.cases):
        with tempfile.TemporaryDirectory() as folder:
            case = Case(chosen.seed, number, pathlib.Path(folder))
            for target in targets if case.p.dtype != "f64" else ["reference"]:
                try:
                    case.check(chosen.qkv, target, chosen.spoil)
                except Difference as difference:
                    raise SystemExit(f"case {number} of seed {chosen.seed} on {target} in {case.p.dtype}: {difference}\n"
                                     f"options: {' '.join(case.p.flags)}\n"
                                     f"repeat with: tests/differential/differential.py --qkv {chosen.qkv} --seed {chosen.seed} "
                                     f"--first {number} --cases 1") from None
    print(f"{chosen.cases} problems from number {chosen.first} of seed {chosen.seed} on: no difference on "
          f"{', '.join(targets)}")


if __name__ == "__main__":
    main()
