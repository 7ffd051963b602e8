"""What a call costs beside its numbers: two heads of eight tokens, where hardly anything is computed."""

import functools

import torch
from torch.nn.functional import scaled_dot_product_attention

import qkv.torch

from .rounds import Contest, seconds_of

SHAPE = (1, 2, 8, 16)
OPERATORS = {"qkv": qkv.torch.scaled_dot_product_attention, "PyTorch": scaled_dot_product_attention}


def calls(operator):
    plain = [torch.randn(SHAPE) for _ in range(3)]
    recorded = [x.clone().requires_grad_() for x in plain]
    d_out = torch.randn(SHAPE)
    return {
        "forward": lambda: operator(*plain),
        "forward, recorded": lambda: operator(*recorded),
        "both": lambda: torch.autograd.grad(operator(*recorded), recorded, d_out),
    }


def rows(rounds, clock):
    both = {name: calls(operator) for name, operator in OPERATORS.items()}
    for what in both["qkv"]:
        timers = {name: functools.partial(seconds_of, each[what], clock=clock) for name, each in both.items()}
        found = Contest(timers, rounds)
        row = {"direction": what} | {f"{name} µs": 1e6 * found.median(name) for name in OPERATORS}
        yield row | {"qkv over PyTorch": found.ratio("qkv", "PyTorch")}
