#!/usr/bin/env python3
"""torch_step.py THREADS f32|bf16: training_step.cc in PyTorch, eager; bf16 under autocast."""
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, BATCH, LENGTH, WIDTH, HEADS, LAYERS, STEPS = 256, 16, 256, 384, 6, 6, 5


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        heads = [map_(y).view(BATCH, LENGTH, HEADS, -1).transpose(1, 2)
                 for y in (self.ln1(x),) for map_ in (self.q, self.k, self.v)]
        attended = functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(x.shape))
        return x + self.down(functional.gelu(self.up(self.ln2(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        nn.init.normal_(self.tokens.weight, std=0.02)
        nn.init.normal_(self.places.weight, std=0.02)
        self.blocks, self.ln = nn.Sequential(*(Block() for _ in range(LAYERS))), nn.LayerNorm(WIDTH)

    def forward(self, ids):
        x = self.blocks(self.tokens(ids) + self.places.weight)
        return functional.linear(self.ln(x), self.tokens.weight)


def main():
    torch.set_num_threads(int(sys.argv[1]))
    model = Model()
    text, following = torch.randint(VOCABULARY, (2, BATCH, LENGTH))
    forward, back = [], []
    for _ in range(STEPS):
        model.zero_grad(set_to_none=True)
        start = time.perf_counter()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=sys.argv[2] == "bf16"):
            scores = model(text)
        loss = functional.cross_entropy(scores.float().view(-1, VOCABULARY), following.view(-1))
        turn = time.perf_counter()
        loss.backward()
        forward.append(turn - start)
        back.append(time.perf_counter() - turn)
    count = sum(parameter.numel() for parameter in model.parameters())
    print(f"PyTorch {torch.__version__}, {count} parameters: forward {statistics.median(forward):.3f} s, "
          f"backward {statistics.median(back):.3f} s")


main()
