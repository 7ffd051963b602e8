#!/usr/bin/env python3
"""pytorch_sdpa_tests.py FILE [--math qkv|torch] [pytest's options]: runs PyTorch's own tests of scaled_dot_product_attention
through qkv.torch.

FILE is test/test_transformers.py of PyTorch's repository, brought by hand. Every call of scaled_dot_product_attention in
it is qkv's; with `--math torch`, those that ask for the kernel MATH stay PyTorch's, so that qkv stands beside it where a
test compares two kernels. Run are the CPU's tests of attention itself; those of layers and of CUDA are not.
"""
import argparse
import pathlib
import sys

import pytest
import torch
import torch.nn.functional as F

import qkv.torch

CLASSES = ["TestSDPACPU", "TestSDPACpuOnlyCPU", "TestAttnBiasCPU", "TestSDPAFailureModesCPU"]
OF_LAYERS = ["TestTransformersCPU::test_scaled_dot_product_attention"]


def only_math_is_on() -> bool:
    backends = torch.backends.cuda
    return backends.math_sdp_enabled() and not (backends.flash_sdp_enabled() or backends.mem_efficient_sdp_enabled())


class Counted:
    """qkv's attention in the place of PyTorch's; counts the calls that each of them answers."""

    def __init__(self, math: str) -> None:
        self.theirs = F.scaled_dot_product_attention
        self.keeps_math = math == "torch"
        self.calls = {"qkv": 0, "torch": 0}

    def __call__(self, *args, **options):
        kept = self.keeps_math and only_math_is_on()
        self.calls["torch" if kept else "qkv"] += 1
        return (self.theirs if kept else qkv.torch.scaled_dot_product_attention)(*args, **options)


class OfAttention:
    """Keeps the tests of attention, and says how many calls they made."""

    def __init__(self, attention: Counted) -> None:
        self.attention = attention

    def pytest_collection_modifyitems(self, items) -> None:
        def wanted(item) -> bool:
            name = item.nodeid.split("::", 1)[1]
            return name.split("::")[0] in CLASSES or any(name.startswith(one) for one in OF_LAYERS)

        items[:] = [item for item in items if wanted(item)]

    def pytest_terminal_summary(self, terminalreporter) -> None:
        calls = self.attention.calls
        terminalreporter.write_line(f"calls answered by qkv: {calls['qkv']:,}, by PyTorch: {calls['torch']:,}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file", type=pathlib.Path)
    options.add_argument("--math", choices=["qkv", "torch"], default="qkv")
    given, rest = options.parse_known_args()
    if not given.file.is_file():
        sys.exit(f"{given.file}: expected test/test_transformers.py of PyTorch's repository; there is no such file")
    attention = Counted(given.math)
    F.scaled_dot_product_attention = attention
    sys.path.insert(0, str(given.file.parent.resolve()))
    sys.exit(pytest.main([str(given.file), "-p", "no:cacheprovider", *rest], plugins=[OfAttention(attention)]))


main()
