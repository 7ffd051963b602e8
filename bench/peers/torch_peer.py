"""PyTorch's scaled_dot_product_attention, and its gradients."""

import time

import torch

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def graph_of(result):
    """The functions of the autograd graph behind `result`, leaves left out."""
    found, waiting = [], [result.grad_fn]
    while waiting:
        function = waiting.pop()
        if function is not None and function not in found:
            found.append(function)
            waiting += [following for following, _ in function.next_functions]
    return sorted(function.name() for function in found if not function.name().endswith("AccumulateGrad"))


def has_fused_gradients(result):
    return all(name.startswith("ScaledDotProduct") for name in graph_of(result))


def options_of(shape):
    """The mask of padded texts is [B, 1, 1, T], true where there is a token."""
    padding = torch.from_numpy(shape.visible())[:, None, None] if shape.lengths else None
    return {"is_causal": shape.causal, "enable_gqa": shape.hq != shape.hk, "attn_mask": padding}


def attend(tensors, options):
    return torch.nn.functional.scaled_dot_product_attention(*tensors, **options)


class TorchPeer:
    name = "PyTorch SDPA"

    def __init__(self, dtype, threads):
        self.dtype = dtype
        torch.set_num_threads(threads)

    def prepare(self, shape, inputs):
        self.tensors = [torch.from_numpy(x).to(DTYPES[self.dtype]) for x in inputs]
        self.options = options_of(shape)

    def seconds(self, repeats):
        with torch.inference_mode():
            start = time.perf_counter()
            for _ in range(repeats):
                self.result = attend(self.tensors, self.options)
            return (time.perf_counter() - start) / repeats

    def out(self):
        return self.result.to(torch.float32).numpy()

    def close(self):
        self.tensors = self.result = None


class TorchBackwardPeer(TorchPeer):
    """One forward call before, then the backward of it alone, again and again."""

    def prepare(self, shape, inputs):
        super().prepare(shape, inputs)
        *self.tensors, self.d_out = self.tensors
        self.tensors = [x.requires_grad_() for x in self.tensors]
        self.forward = attend(self.tensors, self.options)
        self.graph = graph_of(self.forward)

    def seconds(self, repeats):
        start = time.perf_counter()
        for _ in range(repeats):
            self.result = torch.autograd.grad(self.forward, self.tensors, self.d_out, retain_graph=True)
        return (time.perf_counter() - start) / repeats

    def gradients(self):
        return [x.to(torch.float32).numpy() for x in self.result]

    def close(self):
        super().close()
        self.forward = self.d_out = None


def rounded(inputs, dtype):
    """The inputs as that type holds them, back in f32: what the error is measured against. Those of i8 are not rounded:
    each peer has its own scales."""
    return [torch.from_numpy(x).to(DTYPES.get(dtype, torch.float32)).to(torch.float32).numpy() for x in inputs]


def peers(threads, direction):
    kind = TorchBackwardPeer if direction == "backward" else TorchPeer
    return [kind(dtype, threads) for dtype in DTYPES]
