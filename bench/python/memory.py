"""python -m python.memory OPERATOR SHAPE TYPE DIRECTION THREADS: the MiB that one call adds at its peak."""

import dataclasses
import sys

import torch
from peers.shapes import SHAPES
from peers.torch_memory import memory_of_process, start_peak

import qkv

from .operators import Call


def main():
    operator, name, dtype, direction, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    qkv.set_threads(int(threads))
    shape = SHAPES[name]
    Call(operator, dataclasses.replace(shape, tq=min(shape.tq, 128), tk=128), dtype, direction)()  # loads the code
    call = Call(operator, shape, dtype, direction)
    before = start_peak()
    results = call()
    print(round((memory_of_process("VmHWM") - before) / 2**20, 1))
    del results


main()
