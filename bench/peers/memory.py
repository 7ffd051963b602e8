"""What a forward and its backward take beyond their results, where PyTorch has fused gradients and where not."""

import dataclasses
import json
import subprocess
import sys

import numpy as np

from . import served, shapes
from .shapes import SHAPES

MEBI = 1 << 20


@dataclasses.dataclass(frozen=True)
class Call:
    """One at a shape without grouped heads, and what it has that the call of the table above has not."""

    name: str
    dropout: float = 0
    mask: bool = False  # [Tq, Tk] of numbers that are added, whose gradient is wanted
    dv: int = 64
    shape: shapes.Shape = SHAPES["B"]

    def inputs(self):
        random = np.random.default_rng(shapes.SEED)
        widths = (self.shape.d, self.shape.d, self.dv, self.dv)
        return [random.standard_normal((self.shape.b, self.shape.hq, self.shape.tq, width), dtype=np.float32) for width in widths]


CALLS = {
    "plain": Call("nothing else"),
    "long": Call("nothing else, at G", shape=SHAPES["G"]),
    "dropout": Call("dropout 0.1", dropout=0.1),
    "mask": Call("a float mask [Tq, Tk] that requires grad", mask=True),
    "widths": Call("Dv 32", dv=32),
}


def beyond_results(taken):
    return (taken["peak_growth"] - taken["results"]) / MEBI


def of_qkv(options, dtype, call, shape, inputs, **changes):
    peer = served.qkv_peer(dtype, options.threads, options.build, call=call)
    try:
        peer.prepare(shape, inputs, **changes)
        return peer.memory()
    finally:
        peer.close()


def of_torch(options, dtype, key):
    command = [sys.executable, "-m", "peers.torch_memory", key, "--dtype", dtype, "--threads", str(options.threads)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def beside_torch(options):
    rows = []
    for dtype in shapes.backward_dtypes(options.dtypes):
        for key, call in CALLS.items():
            theirs = of_torch(options, dtype, key)
            changes = {"dense_bias": call.mask, "dropout": call.dropout}
            ours = of_qkv(options, dtype, "both", call.shape, call.inputs(), **changes)
            row = {"threads": options.threads, "dtype": dtype, "call": call.name, "fused": theirs["fused"]}
            for name, taken in (("torch", theirs), ("qkv", ours)):
                row |= {f"{name}_mib": beyond_results(taken), f"{name}_seconds": taken["seconds"]}
            rows.append(row)
    return rows
