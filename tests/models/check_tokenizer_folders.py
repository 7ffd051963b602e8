#!/usr/bin/env python3
"""Holds `qkv tokens FOLDER` to AutoTokenizer of `transformers`: folders as models are published in.

    tests/models/check_tokenizer_folders.py build/release/apps/cli/qkv [--lines 500] [--seed 1] [--only NAME]

Tokenizers are trained on the spot on the project's documents and laid into folders of every kind: vocab.txt, vocab.json with
merges.txt, tokenizer.json, tokenizer.model, spiece.model, sentencepiece.bpe.model and source.spm, with tokens that added_tokens.json,
tokenizer_config.json or special_tokens_map.json add. Compares the ids of lines that mix words with the added tokens, and the
text of the ids without special tokens. Prints a line for each folder; exits with 1 if there is a difference. No network.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import sentencepiece  # noqa: E402
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORDS = "the cat sat on a mat don't HELLO World 123 foo_bar x (y) token, naïve é 你好 . !".split()
MARKS = ["<|im_start|>", "<|im_end|>", "<new>", "coolword"]


def said(content, special=True, **flags):
    return {"content": content, "lstrip": False, "rstrip": False, "normalized": False, "single_word": False,
            "special": special, **flags}


def lines_of(draw, count, marks):
    pick = lambda: draw.choice(marks) if draw.random() < 0.25 else draw.choice(WORDS)  # noqa: E731
    return [" ".join(pick() for _ in range(draw.randint(1, 9))) for _ in range(count)]


def word_piece(text):
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made.train_from_iterator(text, trainers.WordPieceTrainer(vocab_size=600, special_tokens=special, show_progress=False))
    return made


def byte_level(text, special=("<|endoftext|>",)):
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(text, trainers.BpeTrainer(
        vocab_size=600, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=list(special),
        show_progress=False))
    return made


class Maker:
    def __init__(self, place):
        self.place = pathlib.Path(place)
        self.text = (ROOT / "docs/tokenizers.md").read_text().splitlines()
        (self.place / "text").write_text("\n".join(self.text))

    def folder(self, name, files):
        folder = self.place / name
        folder.mkdir()
        for file, value in files.items():
            if isinstance(value, bytes):
                (folder / file).write_bytes(value)
            else:
                (folder / file).write_text(value if isinstance(value, str) else json.dumps(value))
        return folder

    def vocab_txt(self):
        vocab = word_piece(self.text).get_vocab()
        return "".join(piece + "\n" for piece in sorted(vocab, key=vocab.get)), len(vocab)

    def pair(self, special=("<|endoftext|>",)):
        model = json.loads(byte_level(self.text, special).to_str())["model"]
        merges = "#version: 0.2\n" + "".join(" ".join(m if isinstance(m, list) else m.split(" ")) + "\n" for m in model["merges"])
        return {"vocab.json": model["vocab"], "merges.txt": merges}, len(model["vocab"])

    def spm(self, text=None, **options):
        prefix = str(self.place / "spm")
        sentencepiece.SentencePieceTrainer.train(input=str(text or self.place / "text"), model_prefix=prefix, minloglevel=3,
                                                 hard_vocab_limit=False, **options)
        return pathlib.Path(prefix + ".model").read_bytes()

    def marian(self):
        """Two languages, and one list of their pieces, from which some are missing."""
        source, target = self.spm(vocab_size=400), self.spm(ROOT / "docs/models.md", vocab_size=500)
        pieces = set()
        for model in (source, target):
            read = sentencepiece.SentencePieceProcessor(model_proto=model)
            pieces |= {read.id_to_piece(n) for n in range(3, read.get_piece_size())}
        words = ["</s>", "<unk>", ">>fra<<", "東", *random.Random(2).sample(sorted(pieces), len(pieces) - 40), "<pad>"]
        files = {"source.spm": source, "target.spm": target, "vocab.json": {word: n for n, word in enumerate(words)}}
        config = {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "de"}
        yield "marian", {**files, "tokenizer_config.json": config, "config.json": {"model_type": "marian"}}
        yield "marian target", {**files, "config.json": {"model_type": "marian"}}

    def older(self):
        vocab, size = self.vocab_txt()
        marks = {"<|im_start|>": size, "<|im_end|>": size + 1, "coolword": size + 2}
        config = {"tokenizer_class": "BertTokenizer"}
        yield "bert added_tokens", {"vocab.txt": vocab, "added_tokens.json": marks, "tokenizer_config.json": config}
        decoder = {str(size): said("<|im_start|>"), str(size + 1): said("<|im_end|>", rstrip=True),
                   str(size + 2): said("coolword", False, normalized=True, single_word=True)}
        yield "bert decoder", {"vocab.txt": vocab, "tokenizer_config.json": {**config, "added_tokens_decoder": decoder}}
        yield "bert cased", {"vocab.txt": vocab, "tokenizer_config.json": {
            **config, "do_lower_case": False, "additional_special_tokens": ["<|im_start|>", "<new>"], "pad_token": "<p>"}}
        files, size = self.pair()
        marks = {"<|im_start|>": size, "<|im_end|>": size + 1}
        config = {"tokenizer_class": "GPT2Tokenizer"}
        yield "gpt2 added_tokens", {**files, "added_tokens.json": marks, "tokenizer_config.json": config}
        yield "gpt2 bos", {**files, "tokenizer_config.json": {**config, "add_bos_token": True, "bos_token": "<s>",
                                                              "additional_special_tokens": ["<|im_start|>"]}}
        decoder = {str(size): said("<|im_start|>"), str(size + 1): said("<new>", False, lstrip=True)}
        yield "qwen2 decoder", {**files, "tokenizer_config.json": {"tokenizer_class": "Qwen2Tokenizer",
                                                                   "added_tokens_decoder": decoder}}

    def newer(self):
        made = json.loads(word_piece(self.text).to_str())
        made["decoder"] = {"type": "WordPiece", "prefix": "##", "cleanup": True}
        size = len(made["model"]["vocab"])
        config = {"tokenizer_class": "BertTokenizer", "clean_up_tokenization_spaces": True, "do_lower_case": False,
                  "added_tokens_decoder": {str(n): said(t) for n, t in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])}
                  | {str(size): said("<|im_start|>"), str(size + 1): said("coolword", False)}}
        template = {"type": "BertProcessing", "cls": ["[CLS]", 2], "sep": ["[SEP]", 3]}
        yield "bert tokenizer.json", {"tokenizer.json": {**made, "post_processor": template}, "tokenizer_config.json": config}
        made = json.loads(byte_level(self.text).to_str())
        yield "byte-level tokenizer.json", {"tokenizer.json": made, "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "<pad>", "extra_special_tokens": ["<|im_start|>"]}}

    def sentence_pieces(self):
        t5 = self.spm(vocab_size=400, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
        yield "t5", {"spiece.model": t5, "config.json": {"model_type": "t5"}}
        config = {"tokenizer_class": "T5Tokenizer", "extra_ids": 3, "clean_up_tokenization_spaces": True}
        yield "t5 three", {"spiece.model": t5, "tokenizer_config.json": config}
        yield "siglip", {"spiece.model": t5, "tokenizer_config.json": {"tokenizer_class": "SiglipTokenizer"}}
        fairseq = self.spm(vocab_size=400)
        yield "xlm-roberta", {"sentencepiece.bpe.model": fairseq, "config.json": {"model_type": "xlm-roberta"}}
        bpe = self.spm(vocab_size=500, model_type="bpe", byte_fallback=True, remove_extra_whitespaces=False,
                       normalization_rule_name="identity")
        config = {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True}
        marks = {"<|im_start|>": 500, "<|im_end|>": 501}
        yield "llama added_tokens", {"tokenizer.model": bpe, "added_tokens.json": marks, "tokenizer_config.json": config}
        yield "llama legacy", {"tokenizer.model": bpe, "tokenizer_config.json": {
            **config, "legacy": True, "added_tokens_decoder": {"500": said("<|im_start|>")}}}


def tokens_of(qkv, folder, lines):
    done = subprocess.run([qkv, "tokens", str(folder), "--file", "-", "--json"], input="\n".join(lines) + "\n",
                          capture_output=True, text=True)
    if done.returncode != 0:
        return [done.stderr.strip()] * len(lines)
    return [json.loads(line)["ids"] for line in done.stdout.splitlines()]


def check(qkv, name, folder, lines):
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    is_target = name.endswith("target")
    theirs = lambda line: tokenizer(**{"text_target" if is_target else "text": line})  # noqa: E731
    folder = folder / "target.spm" if is_target else folder
    ours = tokens_of(qkv, folder, lines)
    wrong = [(line, mine, theirs(line)["input_ids"]) for line, mine in zip(lines, ours) if mine != theirs(line)["input_ids"]]
    texts = 0
    for line in lines[:20]:
        ids = theirs(line)["input_ids"]
        done = subprocess.run([qkv, "tokens", str(folder), "--ids", " ".join(map(str, ids)), "--json", "--no-specials"],
                              capture_output=True, text=True)
        want = tokenizer.decode(ids, skip_special_tokens=True)
        got = json.loads(done.stdout)["text"] if done.returncode == 0 else done.stderr
        if got.strip() != want.strip():
            texts += 1
            wrong.append((line, got, want))
    print(f"{name:28} {len(lines)} lines, {len(wrong) - texts} with other ids, {texts} of 20 texts differ")
    for line, mine, want in wrong[:3]:
        print(f"   {line!r}\n     qkv          {mine}\n     transformers {want}")
    return len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("qkv")
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        maker = Maker(place)
        for kinds in (maker.older(), maker.newer(), maker.sentence_pieces(), maker.marian()):
            for name, files in kinds:
                if options.only not in name:
                    continue
                sentinels = ["<extra_id_0>", "<extra_id_2>", "</s>"] if name.startswith("t5") else []
                sentinels += [">>fra<<", ">>deu<<", "東 京", "</s>", "<pad>"] if name.startswith("marian") else []
                lines = lines_of(random.Random(options.seed), options.lines, MARKS + sentinels)
                wrong += check(options.qkv, name, maker.folder(name.replace(" ", "-"), files), lines)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
