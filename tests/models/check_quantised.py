"""check_quantised.py QKV MODELS: what computing with quantised weights costs, beside llama.cpp.

SmolLM2's own file and those that llama.cpp's quantiser makes of it read 4,096 tokens of docs/decisions, in windows of 512.
Printed for each: perplexity with its weights as f32, and with its blocks as they lie, and the divergence of the second
from the first, of qkv and of llama.cpp. It fails if qkv's perplexity is more than 0.5 % from llama.cpp's, or its
divergence larger than theirs by more than a tenth.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import transformers

try:
    import ik_llama_cpp
    from ik_llama_cpp import _ctypes_api as llama
    from ik_llama_cpp._internals import make_batch_range
    from ik_llama_cpp.quantize import find_quantize_bin
except ImportError:
    print("ik-llama-cpp-python is not there: quantised weights are not held to llama.cpp", flush=True)
    raise SystemExit(0) from None

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOKENS = 4096
WINDOW = 512
PART = 64  # tokens that llama.cpp reads at once; of Q4_1 one, as this build of it goes wrong with several
MOST_PERPLEXITY = 0.005
MOST_DIVERGENCE = 1.1
TYPES = ["Q8_0", "Q6_K", "Q4_K_M", "Q4_0"]


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def log_shares(scores):
    scores = scores.astype(np.float64)
    most = scores.max(-1, keepdims=True)
    return scores - most - np.log(np.exp(scores - most).sum(-1, keepdims=True))


def windows(ids):
    return [ids[begin : begin + WINDOW] for begin in range(0, len(ids), WINDOW)]


def by_llama(path, ids, part):
    """Log shares [tokens, vocabulary] of the tokens of each window but its last."""
    model = ik_llama_cpp.IkLlama(str(path), n_ctx=WINDOW, n_threads=2, verbose=False)
    vocabulary = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model._model.model))
    for window in windows(ids):
        llama.llama_kv_cache_clear(model.ctx)
        rows = []
        for begin in range(0, len(window), part):
            tokens = window[begin : begin + part]
            batch = make_batch_range(tokens, pos_start=begin, logits_last=False)
            for n in range(len(tokens)):
                batch.logits[n] = 1
            if llama.llama_decode(model.ctx, batch) != 0:
                raise SystemExit(f"llama.cpp cannot decode {path}")
            for n in range(len(tokens)):
                rows.append(np.ctypeslib.as_array(llama.llama_get_logits_ith(model.ctx, n), (vocabulary,)).copy())
            llama.llama_batch_free(batch)
        yield log_shares(np.stack(rows[:-1]))
    model.close()


def by_transformers(folder, ids):
    import torch

    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype="float32").eval()
    for window in windows(ids):
        with torch.no_grad():
            yield log_shares(model(torch.tensor([window])).logits[0, :-1].numpy())


def of_llama(path, folder, ids, part):
    loss = divergence = count = 0
    for window, right, theirs in zip(windows(ids), by_transformers(folder, ids), by_llama(path, ids, part), strict=True):
        loss -= theirs[np.arange(len(window) - 1), window[1:]].sum()
        divergence += (np.exp(right) * (right - theirs)).sum()
        count += len(window) - 1
    return float(np.exp(loss / count)), float(divergence / count)


def of_qkv(qkv, path, plain, text):
    found = json.loads(run(qkv, "check", plain, path, "--file", text, "--window", WINDOW, "--dtype", "file", "--json"))
    return found["perplexity_a"], found["perplexity_b"], found["divergence"]


def text_of(tokenizer, room):
    prose = "\n".join(path.read_text() for path in sorted((ROOT / "docs/decisions").glob("*.md")))
    text = tokenizer.decode(tokenizer(prose).input_ids[:TOKENS])
    path = room / "text.txt"
    path.write_text(text)
    return path, tokenizer(text).input_ids


def files_of(own, room):
    yield "own, Q4_1", own
    whole = room / "f16.gguf"
    run(sys.argv[1], "convert", own, whole, "--type", "f16")
    for kind in TYPES:
        path = room / f"{kind}.gguf"
        run(find_quantize_bin(), whole, path, kind)
        yield kind, path
        path.unlink()


def main():
    qkv, own = sys.argv[1], pathlib.Path(sys.argv[2], "smollm2/model.gguf")
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        room = pathlib.Path(folder)
        run(qkv, "convert", own, room / "own")
        text, ids = text_of(transformers.AutoTokenizer.from_pretrained(room / "own"), room)
        print(f"{len(ids)} tokens\n| file | perplexity f32 | qkv | llama.cpp | KL of qkv | of llama.cpp |\n|---|---|---|---|---|---|")
        for kind, path in files_of(own, room):
            plain = room / "plain"
            run(qkv, "convert", path, plain, "--type", "f32")
            whole, ours, our_divergence = of_qkv(qkv, path, plain, text)
            theirs, their_divergence = of_llama(path, plain, ids, 1 if path == own else PART)
            run("rm", "-r", plain)
            print(
                f"| {kind} | {whole:.3f} | {ours:.3f} | {theirs:.3f} | {our_divergence:.5f} | {their_divergence:.5f} |",
                flush=True,
            )
            if abs(ours / theirs - 1) > MOST_PERPLEXITY or our_divergence > MOST_DIVERGENCE * their_divergence:
                failed.append(kind)
    if failed:
        raise SystemExit(f"further from f32 than llama.cpp is: {', '.join(failed)}")


main()
