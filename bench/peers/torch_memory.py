"""python -m peers.torch_memory CALL: what PyTorch takes for a call of memory.py, in a process of its own, as JSON."""

import argparse
import ctypes
import json
import time

import torch

from . import torch_peer
from .memory import CALLS

WARM_ROWS = 128


def memory_of_process(line_name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(line_name + ":"))


def start_peak():
    """Gives back what is free, and lets the peak start again at what is held now."""
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return memory_of_process("VmRSS")


class TrainingCall:
    def __init__(self, call, dtype, rows=None):
        tensors = [torch.from_numpy(x[:, :, :rows]).to(torch_peer.DTYPES[dtype]) for x in call.inputs()]
        *self.tensors, self.d_out = tensors
        self.options = {"dropout_p": call.dropout, "is_causal": call.shape.causal}
        self.wanted = [x.requires_grad_() for x in self.tensors]
        if call.mask:
            tq, tk = self.tensors[0].shape[2], self.tensors[1].shape[2]
            mask = torch.randn(tq, tk).to(self.d_out.dtype).requires_grad_()
            self.options["attn_mask"] = mask
            self.wanted.append(mask)

    def run(self):
        """Frees what the forward kept as the backward goes."""
        out = torch_peer.attend(self.tensors, self.options)
        self.fused = torch_peer.has_fused_gradients(out)
        return [out, *torch.autograd.grad(out, self.wanted, self.d_out)]


def main():
    parser = argparse.ArgumentParser(prog="python -m peers.torch_memory")
    parser.add_argument("call", choices=CALLS)
    parser.add_argument("--dtype", required=True, choices=torch_peer.DTYPES)
    parser.add_argument("--threads", required=True, type=int)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    TrainingCall(CALLS[options.call], options.dtype, WARM_ROWS).run()  # the library's code comes into memory
    training = TrainingCall(CALLS[options.call], options.dtype)
    before = start_peak()
    start = time.perf_counter()
    results = training.run()
    seconds = time.perf_counter() - start
    growth = memory_of_process("VmHWM") - before
    held = sum(x.numel() * x.element_size() for x in results)
    print(json.dumps({"fused": training.fused, "peak_growth": growth, "results": held, "seconds": seconds}))


if __name__ == "__main__":
    main()
