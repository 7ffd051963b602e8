"""What qkv alone is asked: memory, growth with T, and what masks and biases cost."""

import dataclasses
import statistics

from . import served
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


def ratio(options, dtype, shape, other, mask=None, dense_bias=False):
    """Median over the rounds of time(other) / time(shape); mask and dense_bias are the other's."""
    pair = [served.qkv_peer(dtype, options.threads, options.build) for _ in range(2)]
    try:
        pair[0].prepare(shape, shape.inputs())
        pair[1].prepare(other, other.inputs(), mask, dense_bias)
        for peer in pair:
            peer.seconds(1)
        return statistics.median(1 / (pair[0].seconds(1) / pair[1].seconds(1)) for _ in range(options.rounds))
    finally:
        for peer in pair:
            peer.close()


def memory(options, dtype):
    peer = served.qkv_peer(dtype, options.threads, options.build)
    try:
        peer.prepare(SHAPES["G"], SHAPES["G"].inputs())
        return peer.memory()
    finally:
        peer.close()


def measure(options):
    g, b = SHAPES["G"], SHAPES["B"]
    half = dataclasses.replace(g, tq=g.tq // 2, tk=g.tk // 2)
    share = tiles(g.tq, WINDOW) / tiles(g.tq)
    rows = []

    def add(dtype, what, value, unit, wanted):
        rows.append({"threads": options.threads, "dtype": dtype, "what": what, "value": value, "unit": unit, "wanted": wanted})

    for dtype in (dtype for dtype in options.dtypes.split(",") if dtype != "f16"):
        growth, scratch = (bytes_ / MEBI / options.threads for bytes_ in memory(options, dtype))
        add(dtype, "memory that the first call at G adds to the process, for each thread", growth, "MiB", "at most 8")
        add(dtype, "of that scratch, as attention_scratch_bytes() has it", scratch, "MiB", "")
        add(dtype, "time at G over time at half its length", ratio(options, dtype, half, g), "x", "4 within 5 %")
        windowed = ratio(options, dtype, g, g, mask=f"causal() & window({WINDOW})") / share
        what = f"time of causal & window({WINDOW}) at G over causal's, over the tiles' share ({share:.3f})"
        add(dtype, what, windowed, "x", "at most 1.15")
        add(dtype, "time of B with a dense bias [Tq, Tk] over without", ratio(options, dtype, b, b, dense_bias=True), "x", "at most 1.5")
    return rows
