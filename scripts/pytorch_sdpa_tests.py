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


def put_in_place(math: str) -> dict[str, int]:
    """Puts qkv's attention in the place of PyTorch's; gives how many calls each of them answers from then on."""
    theirs = F.scaled_dot_product_attention
    calls = {"qkv": 0, "torch": 0}

    def scaled_dot_product_attention(*args, **options):
        kept = math == "torch" and only_math_is_on()
        calls["torch" if kept else "qkv"] += 1
        return (theirs if kept else qkv.torch.scaled_dot_product_attention)(*args, **options)

    F.scaled_dot_product_attention = scaled_dot_product_attention
    return calls


class OfAttention:
    """Keeps the tests of attention, and says how many calls they made."""

    def __init__(self, calls: dict[str, int]) -> None:
        self.calls = calls

    def pytest_collection_modifyitems(self, items) -> None:
        def wanted(item) -> bool:
            name = item.nodeid.split("::", 1)[1]
            return name.split("::")[0] in CLASSES or any(name.startswith(one) for one in OF_LAYERS)

        items[:] = [item for item in items if wanted(item)]

    def pytest_terminal_summary(self, terminalreporter) -> None:
        line = f"calls answered by qkv: {self.calls['qkv']:,}, by PyTorch: {self.calls['torch']:,}"
        terminalreporter.write_line(line)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file", type=pathlib.Path)
    options.add_argument("--math", choices=["qkv", "torch"], default="qkv")
    given, rest = options.parse_known_args()
    if not given.file.is_file():
        sys.exit(f"{given.file}: expected test/test_transformers.py of PyTorch's repository; there is no such file")
    calls = put_in_place(given.math)
    sys.path.insert(0, str(given.file.parent.resolve()))
    sys.exit(pytest.main([str(given.file), "-p", "no:cacheprovider", *rest], plugins=[OfAttention(calls)]))


main()
