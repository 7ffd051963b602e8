"""A call from Python beside the same call in C++."""

import functools

import numpy as np
import qkv_calls_of_python
import torch

import qkv

from .rounds import Contest, seconds_of

LENGTHS = (1, 16, 128, 512, 2048)
HEADS, WIDTH = 8, 64


def inputs(T):
    random = np.random.default_rng(0)
    return [random.standard_normal((1, HEADS, T, WIDTH), dtype=np.float32) for _ in range(3)]


def contest(T, threads, rounds, clock):
    arrays = inputs(T)
    tensors = [torch.from_numpy(x) for x in arrays]

    def of_cpp(count):
        loop = functools.partial(qkv_calls_of_python.attend, *arrays, threads=threads, calls=count)
        return seconds_of(loop, 1, clock)

    def of_python(given):
        return lambda count: seconds_of(lambda: qkv.attention(*given, threads=threads), count, clock)

    timers = {
        "C++": of_cpp,
        "NumPy": of_python(arrays),
        "PyTorch": of_python(tensors),
    }
    return Contest(timers, rounds)


def rows(threads, rounds, clock):
    for T in LENGTHS:
        found = contest(T, 1 if T == 1 else threads, rounds, clock)
        row = {"T": T, "C++ µs": 1e6 * found.median("C++")}
        for name in ("NumPy", "PyTorch"):
            row[f"{name} adds µs"] = 1e6 * found.difference(name, "C++")
            row[f"{name} times"] = found.ratio(name, "C++")
        yield row
