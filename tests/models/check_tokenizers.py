#!/usr/bin/env python3
"""Holds `qkv tokens` to the `tokenizers` and `sentencepiece` packages: ids, types and offsets of generated lines.

    tests/models/check_tokenizers.py build/release/apps/cli/qkv [--lines 10000] [--seed 1] [TOKENIZER.json …]

Tokenizers of every kind are trained on the spot, on text of the project, and any that are named are checked, too. The lines mix
scripts, emoji, control characters, spaces of all kinds, special tokens and bytes that are no UTF-8. Prints a line for each
tokenizer and the first differences; exits with 1 if there are any. Needs no network.
"""

import argparse
import codecs
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata

import sentencepiece
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

ROOT = pathlib.Path(__file__).resolve().parents[2]
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
# Newer than the categories that `tokenizers` knows (docs/tokenizers.md).
AGE = unicodedata.ucd_3_2_0

RANGES = [(0x20, 0x7E), (0x20, 0x7E), (0xA1, 0x17F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x590, 0x5FF),
          (0x600, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F), (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x206F),
          (0x2100, 0x2BFF), (0x3000, 0x30FF), (0x4E00, 0x9FA5), (0xAC00, 0xD7A3), (0xF900, 0xFAD9), (0xFB00, 0xFB4F),
          (0xFE00, 0xFE0F), (0xFF00, 0xFFEF), (0x1D400, 0x1D7FF), (0x20000, 0x2A6D6), (0x2F800, 0x2FA1D)]
EMOJI = ["🙂", "👩‍👩‍👧", "🏳️‍🌈", "🇩🇪", "👍🏽", "❤️", "½", "ﬁ", "İ", "ß", "ǅ", "é", "é", "q̣̇", "각", "가", "\u200b",
         "\u200d", "\u00ad", "\ufeff", "\u2028", "\u3000", "\u00a0", "\u180e", "\u0085", "▁", "Ġ", "##"]
BROKEN = [b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\xaf", b"\x80\x80", b"\xf4\x90\x80\x80",
          b"\xe0\x80", b"\xf0\x9f\x98\xf0"]
SPECIAL = ["[CLS]", "[SEP]", "[MASK]", "<s>", "</s>", "<|endoftext|>", "<unk>", "<pad>", "Yesterday", "<mask>"]
WORDS = ("the of and attention don't we'll I'M they're HELLO World tokenizer naïve façade 123 4567 89 3.14 1,000 a-b "
         "foo_bar x==y (z) \"quoted\" 'single' http://a.b/c?d=e C++ ... ?! — … Straße Ωmega привет мир שלום สวัสดี").split()


def random_character(draw):
    while True:
        first, last = draw.choice(RANGES)
        c = chr(draw.randint(first, last))
        if AGE.category(c) != "Cn" or unicodedata.category(c) not in ("Cn", "Po", "Ps", "Pe", "Pd", "Mn", "Mc", "So"):
            return c


def random_piece(draw):
    kind = draw.random()
    if kind < 0.5:
        return draw.choice(WORDS).encode()
    if kind < 0.7:
        return "".join(random_character(draw) for _ in range(draw.randint(1, 6))).encode()
    if kind < 0.8:
        return draw.choice(EMOJI).encode()
    if kind < 0.85:
        return chr(draw.choice([0, 1, 7, 8, 9, 11, 12, 13, 27, 31, 127, 0x80, 0x9F])).encode()
    if kind < 0.9:
        return draw.choice(BROKEN)
    if kind < 0.95:
        return draw.choice(SPECIAL).encode()
    return b" " * draw.randint(1, 5)


def random_line(draw):
    pieces = [random_piece(draw) for _ in range(draw.randint(0, 12))]
    line = b"".join(piece + draw.choice([b" ", b" ", b"", b"  "]) for piece in pieces)
    return line.replace(b"\n", b"")


def read_broken(line):
    """The text as Python reads it, and where each character begins in bytes."""
    begins = []

    def replace(error):
        return "\ufffd", error.end

    codecs.register_error("first-fault", replace)
    text = ""
    at = 0
    while at < len(line):
        for end in range(at + 1, min(at + 4, len(line)) + 1):
            try:
                c = line[at:end].decode()
                break
            except UnicodeDecodeError:
                c = None
        if c is None:
            try:
                line[at:].decode()
            except UnicodeDecodeError as error:
                c, end = "\ufffd", at + error.end
        begins.append(at)
        text += c
        at = end
    begins.append(len(line))
    assert text == line.decode(errors="replace"), line
    return text, begins


def corpus():
    texts = [path.read_text() for folder in ("docs", "include", "src", "tests") for path in sorted((ROOT / folder).rglob("*.[mhc]*"))
             if path.suffix in (".md", ".h", ".cc")]
    return [line for text in texts for line in text.splitlines()]


def mixed(draw, count):
    return [random_line(draw).decode(errors="replace") for _ in range(count)]


def byte_level(text, pattern=None, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    if pattern:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)])
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=3000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
                                  special_tokens=["<|endoftext|>"])
    tokenizer.train_from_iterator(text, trainer)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def roberta(text):
    tokenizer = byte_level(text)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.add_special_tokens(["<s>", "</s>", "<pad>"])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    ends = {name: (name, tokenizer.token_to_id(name)) for name in ("<s>", "</s>")}
    tokenizer.post_processor = processors.RobertaProcessing(ends["</s>"], ends["<s>"])
    return tokenizer


def llama3(text):
    tokenizer = byte_level(text, LLAMA3, ignore_merges=True)
    begin = "<|endoftext|>"
    template = processors.TemplateProcessing(single=f"{begin} $A", pair=f"{begin} $A {begin}:1 $B:1",
                                             special_tokens=[(begin, tokenizer.token_to_id(begin))])
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    return tokenizer


def qwen2(text):
    tokenizer = byte_level(text, QWEN2)
    tokenizer.normalizer = normalizers.NFC()
    return tokenizer


def word_piece(text, lowercase=True):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(text, trainers.WordPieceTrainer(vocab_size=3000, special_tokens=special, show_progress=False))
    tokenizer.add_tokens([AddedToken("Yesterday", single_word=True, rstrip=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", tokenizer.token_to_id("[CLS]")), ("[SEP]", tokenizer.token_to_id("[SEP]"))])
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def unigram(text, normalizer, split=True, byte_fallback=True):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first" if split else "always", split=split)
    special = ["<unk>", "<s>", "</s>"] + (BYTES if byte_fallback else [])
    training = Tokenizer(models.Unigram())
    training.normalizer, training.pre_tokenizer = tokenizer.normalizer, pre_tokenizers.Metaspace()
    training.train_from_iterator(text, trainers.UnigramTrainer(vocab_size=2500, special_tokens=special, unk_token="<unk>",
                                                               show_progress=False))
    made = json.loads(training.to_str())
    made["model"]["byte_fallback"] = byte_fallback
    made["pre_tokenizer"] = json.loads(tokenizer.to_str())["pre_tokenizer"]
    made["added_tokens"] = [token for token in made["added_tokens"] if token["id"] < 3]
    return Tokenizer.from_str(json.dumps(made))


def sentence_piece_bpe(text):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    training = Tokenizer(models.BPE())
    training.pre_tokenizer = pre_tokenizers.Metaspace()
    training.train_from_iterator(text, trainers.BpeTrainer(vocab_size=3000, show_progress=False,
                                                           special_tokens=["<unk>", "<s>", "</s>"] + BYTES))
    made, options = json.loads(training.to_str()), json.loads(tokenizer.to_str())
    made["normalizer"], made["pre_tokenizer"] = options["normalizer"], None
    made["model"].update(unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    made["added_tokens"] = [token for token in made["added_tokens"] if token["id"] < 3]
    return Tokenizer.from_str(json.dumps(made))


def word_level(text):
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents(),
                                                 normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(text, trainers.WordLevelTrainer(vocab_size=3000, special_tokens=["<unk>"], show_progress=False))
    return tokenizer


def odd_stages(text, which):
    """Stages that no known model has together."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = which
    tokenizer.train_from_iterator(text, trainers.BpeTrainer(vocab_size=3000, special_tokens=["<unk>"], show_progress=False))
    return tokenizer


def precompiled(folder, text):
    """The table that the sentencepiece package compiles for nmt_nfkc."""
    prefix = str(pathlib.Path(folder) / "charsmap")
    train_sentence_piece(prefix, text, "unigram", normalization_rule_name="nmt_nfkc")
    return normalizers.Precompiled(charsmap_of(pathlib.Path(prefix + ".model").read_bytes()))


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """The numbers and values of a serialised message of protobuf."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 2:
            size, at = varint(data, at)
            yield key >> 3, data[at:at + size]
            at += size
        elif key & 7 == 0:
            value, at = varint(data, at)
            yield key >> 3, value
        else:
            at += 4 if key & 7 == 5 else 8


def charsmap_of(model):
    """precompiled_charsmap of a serialised ModelProto."""
    normalizer = next(value for number, value in fields(model) if number == 3)
    return next(value for number, value in fields(normalizer) if number == 2)


USER_DEFINED = ["Yesterday", "Yes", "terday", "▁x==", "привет", "  ", "0"]


def train_sentence_piece(prefix, text, kind, **options):
    options = {"vocab_size": 2000, "byte_fallback": True, "character_coverage": 0.99} | options
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(text), model_prefix=prefix, model_type=kind, minloglevel=2,
                                             hard_vocab_limit=False, **options)


def bytes_of_varint(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + bytes_of_varint(value >> 7)


def with_unused(model, step):
    """A ModelProto whose normal pieces of more than one character are unused, one of so many."""
    changed, count = b"", 0
    for number, value in fields(model):
        if number == 1:
            piece = dict(fields(value))
            if piece.get(3, 1) == 1 and len(piece[1].decode()) > 1:
                count += 1
                value += b"\x18\x05" if count % step == 0 else b""  # type: of a field that is there twice, the last counts
        changed += bytes_of_varint(number << 3 | 2) + bytes_of_varint(len(value)) + value
    return changed


def sentence_piece_kinds():
    """Names and options of the tokenizer.model files that are trained."""
    bare = {"add_dummy_prefix": False, "remove_extra_whitespaces": False, "normalization_rule_name": "identity"}
    for kind in ("unigram", "bpe"):
        yield kind, kind, {}
        yield kind + "-unknown", kind, {"byte_fallback": False}
        yield kind + "-identity", kind, {"normalization_rule_name": "identity", "byte_fallback": False}
        yield kind + "-folded", kind, {"normalization_rule_name": "nmt_nfkc_cf", "denormalization_rule_tsv": "DENORMALIZER"}
        yield kind + "-suffix", kind, {"treat_whitespace_as_suffix": True}
        yield kind + "-user", kind, {"user_defined_symbols": USER_DEFINED, "control_symbols": ["<mask>"]}
        yield kind + "-bare", kind, bare
        yield kind + "-bare-user", kind, bare | {"user_defined_symbols": USER_DEFINED, "byte_fallback": False}
        yield kind + "-spaces", kind, {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True}
        yield kind + "-phrases", kind, {"split_by_whitespace": False, "split_by_unicode_script": False}
        yield kind + "-unused", kind, {"unused": 3}
    yield "word", "word", {"byte_fallback": False}
    yield "word-bytes", "word", {"add_dummy_prefix": False}
    yield "char", "char", {"byte_fallback": False, "user_defined_symbols": USER_DEFINED}
    yield "char-bytes", "char", {"character_coverage": 0.98}


def make_sentence_piece(folder, name, text, kind, options):
    """The path of a tokenizer.model. `unused`: every so many of its normal pieces are made unused afterwards."""
    options = dict(options)
    unused = options.pop("unused", None)
    if "denormalization_rule_tsv" in options:
        options["denormalization_rule_tsv"] = f"{folder}/denormalizer.tsv"
        pathlib.Path(options["denormalization_rule_tsv"]).write_text("61\t41\n74 68\tDE\n", encoding="utf-8")
    prefix = f"{folder}/{name}"
    train_sentence_piece(prefix, text, kind, **options)
    path = pathlib.Path(prefix + ".model")
    if unused:
        path.write_bytes(with_unused(path.read_bytes(), unused))
    return str(path)


def all_tokenizers(folder, text):
    metaspace = pre_tokenizers.Metaspace()
    yield "gpt-2", lambda: byte_level(text)
    yield "roberta", lambda: roberta(text)
    yield "llama-3", lambda: llama3(text)
    yield "qwen2", lambda: qwen2(text)
    yield "wordpiece", lambda: word_piece(text)
    yield "wordpiece-cased", lambda: word_piece(text, lowercase=False)
    yield "unigram", lambda: unigram(text, normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()]))
    yield "unigram-unknown", lambda: unigram(text, normalizers.NFKD(), split=False, byte_fallback=False)
    yield "unigram-charsmap", lambda: unigram(text, normalizers.Sequence([precompiled(folder, text), normalizers.Replace(Regex(" {2,}"), " ")]))
    yield "sentencepiece-bpe", lambda: sentence_piece_bpe(text)
    yield "wordlevel", lambda: word_level(text)
    yield "digits", lambda: odd_stages(text, (normalizers.NFKC(), pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("merged_with_next"), pre_tokenizers.Digits(True)])))
    yield "splits", lambda: odd_stages(text, (normalizers.Replace(Regex(r"[aeiou]+"), "<>"), pre_tokenizers.Sequence(
        [pre_tokenizers.Split("the", "merged_with_previous"), pre_tokenizers.Split(Regex(r"\s+"), "contiguous"),
         pre_tokenizers.Split(Regex(r"\w+"), "removed", invert=True), metaspace])))
    yield "bytes-first", lambda: odd_stages(text, (normalizers.Sequence([normalizers.NFKD(), normalizers.ByteLevel()]),
                                           pre_tokenizers.Digits(False)))


def ask_qkv(qkv, path, lines, *options):
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(line + b"\n" for line in lines))
        file.flush()
        done = subprocess.run([qkv, "tokens", path, "--file", file.name, "--json", *options], check=True, capture_output=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def in_bytes(encoding, begins):
    return [[begins[a], begins[b]] for a, b in encoding.offsets]


def check_lines(qkv, name, path, expected, lines, texts):
    wrong = 0
    for special in (True, False):
        replies = ask_qkv(qkv, path, lines, *([] if special else ["--no-specials"]))
        assert len(replies) == len(lines), (len(replies), len(lines))
        for line, (text, begins), reply in zip(lines, texts, replies):
            wanted = expected(text, special)
            offsets = in_bytes(wanted, begins)
            same = reply["ids"] == wanted.ids and reply["types"] == wanted.type_ids and reply["offsets"] == offsets
            wrong += not same
            if not same and wrong <= 3:
                print(f"  {line!r}\n    expected {list(zip(wanted.ids, wanted.tokens, offsets))}"
                      f"\n    got      {list(zip(reply['ids'], reply['pieces'], reply['offsets']))}")
    print(f"{name:24} {wrong} of {2 * len(lines)} lines differ", flush=True)
    return wrong


def check_decoding(qkv, name, path, processor, draw):
    """Random ids, many of them bytes, as a text."""
    size, wrong = processor.get_piece_size(), 0
    for _ in range(100):
        most = draw.choice([8, 300, size])
        ids = [draw.randrange(min(most, size)) for _ in range(draw.randint(1, 60))]
        done = subprocess.run([qkv, "tokens", path, "--ids", " ".join(map(str, ids)), "--json", "--no-specials"], check=True, capture_output=True)
        got, wanted = json.loads(done.stdout)["text"], processor.decode(ids)
        if got != wanted:
            wrong += 1
            print(f"  {ids}\n    expected {wanted!r}\n    got      {got!r}")
    print(f"{name:24} {wrong} of 100 lists of ids differ", flush=True)
    return wrong


class SentencePieces:
    """What the sentencepiece package says, as an Encoding."""

    def __init__(self, processor):
        self.processor = processor

    def __call__(self, text, special):
        del special  # none is added without a tokenizer_config.json
        made = self.processor.encode(text, return_type="serialized_proto")
        pieces = [dict(fields(value)) for number, value in fields(made) if number == 2]
        self.ids = [piece.get(2, 0) for piece in pieces]
        self.tokens = [piece.get(1, b"").decode() for piece in pieces]
        self.type_ids = [0] * len(self.ids)
        characters, at = {}, 0  # from bytes
        for n, c in enumerate(text + "."):
            characters[at] = n
            at += len(c.encode())
        offsets = [[characters[piece.get(4, 0)], characters[piece.get(5, 0)]] for piece in pieces]
        for n in reversed(range(len(offsets) - 1)):  # each byte of a character has its place
            if self.processor.is_byte(self.ids[n]) and offsets[n][0] == offsets[n][1]:
                offsets[n] = offsets[n + 1]
        self.offsets = offsets
        return self


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("qkv")
    parser.add_argument("tokenizers", nargs="*", help="tokenizer.json files to check, too")
    parser.add_argument("--lines", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="the tokenizers whose name holds this")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    lines = [random_line(draw) for _ in range(options.lines)]
    texts = [read_broken(line) for line in lines]
    text = corpus() + mixed(random.Random(0), 300)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, train in all_tokenizers(folder, text):
            if options.only and options.only not in name:
                continue
            path = f"{folder}/{name}.json"
            train().save(path)
            tokenizer = Tokenizer.from_file(path)
            wrong += check_lines(options.qkv, name, path, lambda t, s: tokenizer.encode(t, add_special_tokens=s), lines, texts)
        for path in options.tokenizers:
            tokenizer = Tokenizer.from_file(path)
            tokenizer.no_truncation()
            tokenizer.no_padding()
            wrong += check_lines(options.qkv, path[-20:], path, lambda t, s: tokenizer.encode(t, add_special_tokens=s), lines, texts)
        for name, kind, choices in sentence_piece_kinds():
            if options.only and options.only not in name + ".model":
                continue
            path = make_sentence_piece(folder, name, text, kind, choices)
            processor = sentencepiece.SentencePieceProcessor(model_file=path)
            wrong += check_lines(options.qkv, name + ".model", path, SentencePieces(processor), lines, texts)
            wrong += check_decoding(options.qkv, name + ".model", path, processor, draw)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
