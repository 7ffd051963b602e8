"""What qkv alone is asked: memory, growth with T, and what masks and biases cost."""

import dataclasses
import statistics

from . import memory, served, shapes
from .shapes import SHAPES

TILE = 64
WINDOW = 1024
MEBI = 1 << 20


def tiles(length, window=None):
    """Tiles of 64 x 64 that a causal mask, and a window where given, leave something of."""
    blocks = -(-length // TILE)
    kept = 0
    for block in range(blocks):
        first = 0 if window is None else max(0, block * TILE - window + 1) // TILE
        kept += block - first + 1
    return kept


def ratio(options, dtype, shape, other, **changes):
    """Median over the rounds of time(other) / time(shape); `changes` (mask, dense_bias) are the other's."""
    pair = [served.qkv_peer(dtype, options.threads, options.build) for _ in range(2)]
    try:
        pair[0].prepare(shape, shape.inputs())
        pair[1].prepare(other, other.inputs(), **changes)
        for peer in pair:
            peer.seconds(1)
        return statistics.median(1 / (pair[0].seconds(1) / pair[1].seconds(1)) for _ in range(options.rounds))
    finally:
        for peer in pair:
            peer.close()


def forward(options, dtype):
    """(what, value, unit, wanted) of each thing that is asked."""
    g, b = SHAPES["G"], SHAPES["B"]
    half = dataclasses.replace(g, tq=g.tq // 2, tk=g.tk // 2)
    share = tiles(g.tq, WINDOW) / tiles(g.tq)
    taken = memory.of_qkv(options, dtype, "forward", g, g.inputs())
    growth, scratch = (taken[name] / MEBI / options.threads for name in ("peak_growth", "scratch"))
    yield "memory that the first call at G adds to the process, for each thread", growth, "MiB", "at most 8"
    yield "of that scratch, as attention_scratch_bytes() has it", scratch, "MiB", ""
    yield "time at G over time at half its length", ratio(options, dtype, half, g), "x", "4 within 5 %"
    windowed = ratio(options, dtype, g, g, mask=f"causal() & window({WINDOW})") / share
    what = f"time of causal & window({WINDOW}) at G over causal's, over the tiles' share ({share:.3f})"
    yield what, windowed, "x", "at most 1.15"
    yield "time of B with a dense bias [Tq, Tk] over without", ratio(options, dtype, b, b, dense_bias=True), "x", "at most 1.5"


def backward(options, dtype):
    g = SHAPES["G"]
    taken = memory.of_qkv(options, dtype, "backward", g, (*g.inputs(), g.d_out()))
    extra = memory.beyond_results(taken) / options.threads
    yield "memory that a first backward at G adds to the process beyond its gradients, for each thread", extra, "MiB", "at most 16"


ASKED = {"forward": forward, "backward": backward}


def measure(options):
    """{"further": rows of what qkv is asked, "memory": rows of memory beside PyTorch's}"""
    directions = [direction for direction in options.directions.split(",") if direction in ASKED]
    rows = []
    for direction in directions:
        for dtype in shapes.backward_dtypes(options.dtypes):
            for what, value, unit, wanted in ASKED[direction](options, dtype):
                row = {"threads": options.threads, "dtype": dtype, "what": what, "value": value}
                rows.append({**row, "unit": unit, "wanted": wanted})
    beside = "backward" in directions and "pytorch" in options.peers.split(",")
    return {"further": rows, "memory": memory.beside_torch(options) if beside else []}
