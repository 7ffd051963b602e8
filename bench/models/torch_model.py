"""torch_model.py THREADS f32|bf16 embed FOLDER TEXTS
torch_model.py THREADS f32|bf16 prefill|decode|unequal FOLDER TOKENS:
model_peer.cc with `transformers`, eager, attention by scaled_dot_product_attention.

Texts are sorted by length and taken 32 at a time, padded to the longest, as sentence-transformers does it.
Unequal prompts are one batch, padded at their ends.
"""

import json
import pathlib
import sys
import time

import numpy as np
import torch
import transformers as t

BATCH = 32
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def batches(tokenizer, texts):
    """(numbers of the texts, what a BERT reads) of each batch."""
    order = sorted(range(len(texts)), key=lambda n: -len(texts[n]))
    for first in range(0, len(order), BATCH):
        numbers = order[first : first + BATCH]
        yield numbers, tokenizer([texts[n] for n in numbers], padding=True, return_tensors="pt")


def mean_vectors(states, mask):
    """The mean of the states that are there, of length 1."""
    there = mask.unsqueeze(-1).to(torch.float32)
    mean = (states.float() * there).sum(1) / there.sum(1)
    return torch.nn.functional.normalize(mean, dim=-1)


def in_order(texts, parts):
    vectors = [None] * len(texts)
    for numbers, rows in parts:
        for number, row in zip(numbers, rows, strict=True):
            vectors[number] = row
    return np.stack([np.asarray(row) for row in vectors])


def embedding(dtype, folder, path):
    texts = pathlib.Path(path).read_text().splitlines()
    tokenizer = t.AutoTokenizer.from_pretrained(folder)
    model = t.BertModel.from_pretrained(folder, dtype=dtype, attn_implementation="sdpa", add_pooling_layer=False).eval()

    def states(inputs):
        return mean_vectors(model(**inputs).last_hidden_state, inputs["attention_mask"])

    return lambda: in_order(texts, [(numbers, states(inputs)) for numbers, inputs in batches(tokenizer, texts)])


def prompt_of(tokens, vocabulary):
    return torch.tensor([[(7919 * n + 1) % vocabulary for n in range(tokens)]])


def prefill(model, tokens):
    prompt = prompt_of(tokens, model.config.vocab_size)
    return lambda: model(prompt, use_cache=True, logits_to_keep=1).logits[0, -1].float().numpy()


def unequal(model, longest):
    """Eight prompts from an eighth of `longest` to all of it, and the scores after the last token of each."""
    lengths = torch.tensor([longest * n // 8 for n in range(1, 9)])
    ids = prompt_of(longest, model.config.vocab_size).repeat(8, 1)
    mask = (torch.arange(longest) < lengths.unsqueeze(1)).long()

    def read():
        states = model.model(ids, attention_mask=mask, use_cache=True).last_hidden_state
        return model.lm_head(states[torch.arange(8), lengths - 1]).float().numpy()

    return read


def decoding(model, tokens):
    """A loop of its own: generate() of `transformers` adds some time a token."""
    prompt = prompt_of(1, model.config.vocab_size)

    def write():
        cache, ids, written = t.DynamicCache(config=model.config), prompt, []
        for _ in range(tokens):
            ids = (
                model(ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
                .logits[:, -1]
                .argmax(-1, keepdim=True)
            )
            written.append(ids.item())
        return np.array(written)

    return write


def keep_quiet():
    t.logging.set_verbosity_error()
    t.logging.disable_progress_bar()


def round_of(dtype, what, folder, last):
    if what == "embed":
        return embedding(dtype, folder, last)
    model = t.LlamaForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="sdpa").eval()
    return {"prefill": prefill, "decode": decoding, "unequal": unequal}[what](model, int(last))


def serve(run):
    """A round for each line of standard input, as model_peer.cc says."""
    for line in sys.stdin:
        start, before = time.perf_counter(), time.process_time()
        result = run()
        taken = {"seconds": time.perf_counter() - start, "processor": time.process_time() - before}
        if line.strip():
            np.save(line.strip(), result)
        print(json.dumps(taken), flush=True)


def main():
    threads, dtype, what, folder, last = sys.argv[1:]
    torch.set_num_threads(int(threads))
    keep_quiet()
    with torch.inference_mode():
        serve(round_of(DTYPES[dtype], what, folder, last))


if __name__ == "__main__":
    main()
