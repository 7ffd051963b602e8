"""The notebook "attention from scratch" (seed 000) run by PyTorch, with seq_len = 4, which it forgets to set.

Writes one line a tensor: its name, its extents, a colon, its values. The seed prints no output of its own, so these
stand in for it. Made with PyTorch 2.13.0:  python3 make_scratch_notebook.py > scratch_notebook.txt
"""
import math

import torch

torch.manual_seed(42)


def put(name, tensor):
    values = " ".join(f"{value:.9g}" for value in tensor.flatten().tolist())
    print(name, *tensor.shape, ":", values)


def attend(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


embedding = torch.randn(4, 8)
position = torch.arange(0, 4).unsqueeze(1)
frequency = torch.exp(torch.arange(0, 8, 2) * -(math.log(10000.0) / 8))
positions = torch.zeros(4, 8)
positions[:, 0::2] = torch.sin(position * frequency)
positions[:, 1::2] = torch.cos(position * frequency)
x = embedding + positions
put("embedding", embedding)
put("positions", positions)
put("x", x)

w_q, w_k, w_v = (torch.randn(8, 6) * 0.1 for _ in range(3))
q, k, v = x @ w_q, x @ w_k, x @ w_v
out, weights = attend(q, k, v)
put("scores", q @ k.T)
put("scaled", q @ k.T / math.sqrt(6))
put("weights", weights)
put("out", out)
put("causal_weights", attend(q, k, v, torch.triu(torch.ones(4, 4, dtype=torch.bool), diagonal=1))[1])

head_q, head_k, head_v = ([torch.randn(8, 4) * 0.1 for _ in range(2)] for _ in range(3))
w_o = torch.randn(8, 8) * 0.1
heads = [attend(x @ head_q[i], x @ head_k[i], x @ head_v[i]) for i in range(2)]
put("head0_weights", heads[0][1])
put("head1_weights", heads[1][1])
put("multi_head_output", torch.cat([heads[0][0], heads[1][0]], dim=-1) @ w_o)

packed = [torch.randn(8, 8) * 0.1 for _ in range(4)]
split = [(x @ w).view(4, 2, 4).transpose(0, 1) for w in packed[:3]]
packed_out, packed_weights = attend(*split)
put("packed_weights", packed_weights)
put("packed_output", packed_out.transpose(0, 1).contiguous().view(4, 8) @ packed[3])
