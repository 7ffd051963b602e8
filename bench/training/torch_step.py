"""torch_step.py THREADS f64|f32|bf16 eager|compile FILE: training_step.cc in PyTorch, from the same parameters and text.

One step for each line of standard input; answers {"seconds": …, "processor": …, "loss": …}. bf16 is autocast, as PyTorch trains with it.
"""
import json
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

VOCABULARY, BATCH, LENGTH, WIDTH, HEADS, LAYERS, LEARNING_RATE = 256, 16, 256, 384, 6, 6, 1e-3


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attn = nn.ModuleDict({name: nn.Linear(WIDTH, WIDTH) for name in ("q", "k", "v", "out")})
        self.ffn = nn.ModuleDict({"up": nn.Linear(WIDTH, 4 * WIDTH), "down": nn.Linear(4 * WIDTH, WIDTH)})

    def forward(self, x):
        y = self.ln1(x)
        q, k, v = (self.attn[name](y).view(BATCH, LENGTH, HEADS, -1).transpose(1, 2) for name in "qkv")
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attn["out"](attended.transpose(1, 2).reshape(x.shape))
        return x + self.ffn["down"](functional.gelu(self.ffn["up"](self.ln2(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks, self.ln_final = nn.Sequential(*(Block() for _ in range(LAYERS))), nn.LayerNorm(WIDTH)

    def forward(self, text, following):
        x = self.blocks(self.embedding(text) + self.positions.weight)
        scores = functional.linear(self.ln_final(x), self.embedding.weight)
        return functional.cross_entropy(scores.view(-1, VOCABULARY).to(self.positions.weight.dtype), following.view(-1))


def parameters_in(path):
    """A safetensors file of f32."""
    data = open(path, "rb").read()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    numbers = {name: data[8 + size:][slice(*entry["data_offsets"])] for name, entry in header.items()}
    return {name: torch.from_numpy(np.frombuffer(raw, np.float32).reshape(header[name]["shape"]).copy()) for name, raw in numbers.items()}


def main():
    threads, dtype, mode, path = sys.argv[1:]
    torch.set_num_threads(int(threads))
    model = Model()
    model.load_state_dict(parameters_in(path))
    if dtype == "f64":
        model.double()
    run = torch.compile(model) if mode == "compile" else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, fused=True)
    torch.manual_seed(2)
    text, following = (torch.randint(VOCABULARY, (BATCH, LENGTH)) for _ in range(2))
    for _ in sys.stdin:
        start, before = time.perf_counter(), time.process_time()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == "bf16"):
            loss = run(text, following)
        loss.backward()
        optimizer.step()
        taken = {"seconds": time.perf_counter() - start, "processor": time.process_time() - before}
        print(json.dumps({**taken, "loss": loss.item()}), flush=True)


main()
