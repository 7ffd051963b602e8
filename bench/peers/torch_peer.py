"""PyTorch's scaled_dot_product_attention."""

import time

import numpy as np
import torch

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


class TorchPeer:
    def __init__(self, dtype, threads):
        self.name = "PyTorch SDPA"
        self.dtype = dtype
        torch.set_num_threads(threads)

    def prepare(self, shape, inputs):
        self.tensors = [torch.from_numpy(x).to(DTYPES[self.dtype]) for x in inputs]
        self.options = {"is_causal": shape.causal, "enable_gqa": shape.hq != shape.hk}

    def seconds(self, repeats):
        with torch.inference_mode():
            start = time.perf_counter()
            for _ in range(repeats):
                self.result = torch.nn.functional.scaled_dot_product_attention(*self.tensors, **self.options)
            return (time.perf_counter() - start) / repeats

    def out(self):
        return self.result.to(torch.float32).numpy()

    def close(self):
        self.tensors = self.result = None


def rounded(inputs, dtype):
    """The inputs as that type holds them, back in f32: what the error is measured against."""
    return [torch.from_numpy(x).to(DTYPES[dtype]).to(torch.float32).numpy() for x in inputs]


def peers(threads):
    return [TorchPeer("f32", threads), TorchPeer("bf16", threads), TorchPeer("f16", threads)]
