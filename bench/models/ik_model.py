"""ik_model.py THREADS prefill|decode FILE.gguf TOKENS: model_peer.cc's rounds by ik_llama.cpp's package."""

import ctypes
import sys

import numpy as np
from ik_llama_cpp import IkLlama
from ik_llama_cpp import _ctypes_api as ik
from ik_llama_cpp._internals import make_batch_range, make_batch_single
from torch_model import prompt_of, serve

PART = 512
LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
SILENT = LOG(lambda level, text, data: None)


class Reader:
    def __init__(self, threads, path, tokens):
        self.llama = IkLlama(path, n_ctx=tokens + 32, n_threads=threads, verbose=False)
        self.context = self.llama._context
        self.vocabulary = ik.llama_vocab_n_tokens(ik.llama_model_get_vocab(self.llama._model.model))

    def decode(self, batch):
        failed = self.context.decode(batch)
        ik.llama_batch_free(batch)
        if failed:
            raise RuntimeError(f"llama_decode failed: {failed}")

    def scores(self):
        return np.ctypeslib.as_array(ik.llama_get_logits_ith(self.llama.ctx, -1), (self.vocabulary,)).copy()

    def read(self, prompt):
        self.context.kv_cache_clear()
        for first in range(0, len(prompt), PART):
            part = prompt[first : first + PART]
            self.decode(make_batch_range(part, pos_start=first, logits_last=first + PART >= len(prompt)))
        return self.scores()

    def write(self, token, tokens):
        self.context.kv_cache_clear()
        written = []
        for position in range(tokens):
            self.decode(make_batch_single(token, position))
            token = int(self.scores().argmax())
            written.append(token)
        return np.array(written)


def main():
    threads, what, path, last = sys.argv[1:]
    tokens = int(last)
    ik._lib.llama_log_set(SILENT, None)
    reader = Reader(int(threads), path, tokens)
    if what == "prefill":
        prompt = prompt_of(tokens, reader.vocabulary)[0].tolist()
        serve(lambda: reader.read(prompt))
    else:
        start = prompt_of(1, reader.vocabulary).item()
        serve(lambda: reader.write(start, tokens))


main()
