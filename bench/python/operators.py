"""qkv.torch beside PyTorch's own scaled_dot_product_attention, on the shapes of bench/peers."""

import functools
import json
import subprocess
import sys

import torch
from peers.shapes import SHAPES
from peers.torch_peer import options_of
from torch.nn.functional import scaled_dot_product_attention

import qkv
import qkv.torch

from .rounds import Contest, seconds_of

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
OPERATORS = {"qkv": qkv.torch.scaled_dot_product_attention, "PyTorch": scaled_dot_product_attention}
DIRECTIONS = ("forward", "both")


class Call:
    def __init__(self, operator, shape, dtype, direction):
        self.operator = OPERATORS[operator]
        *self.inputs, self.d_out = (torch.from_numpy(x).to(DTYPES[dtype]) for x in (*shape.inputs(), shape.d_out()))
        self.options = options_of(shape)
        self.is_forward = direction == "forward"
        for x in self.inputs:
            x.requires_grad_(not self.is_forward)

    def __call__(self):
        if self.is_forward:
            with torch.no_grad():
                return self.operator(*self.inputs, **self.options)
        return torch.autograd.grad(self.operator(*self.inputs, **self.options), self.inputs, self.d_out)


def added_mebibytes(operator, shape, dtype, direction, threads):
    """The most memory that a call holds at once, results included, in a process of its own."""
    command = [sys.executable, "-m", "python.memory", operator, shape, dtype, direction, str(threads)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def rows(shapes, dtypes, threads, rounds, clock):
    for name in shapes:
        for dtype in dtypes:
            for direction in DIRECTIONS:
                calls = {each: Call(each, SHAPES[name], dtype, direction) for each in OPERATORS}
                timers = {each: functools.partial(seconds_of, call, clock=clock) for each, call in calls.items()}
                found = Contest(timers, rounds)
                row = {"shape": name, "type": dtype, "direction": direction}
                row |= {f"{each} ms": 1e3 * found.median(each) for each in OPERATORS}
                row["PyTorch over qkv"] = found.ratio("PyTorch", "qkv")
                row |= {f"{each} MiB": added_mebibytes(each, name, dtype, direction, threads) for each in OPERATORS}
                yield row
