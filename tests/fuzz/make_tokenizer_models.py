#!/usr/bin/env python3
"""Writes the seeds of the fuzz target tokenizer_model: small tokenizer.model files of each kind."""

import pathlib
import struct

FOLDER = pathlib.Path(__file__).parent / "corpus" / "tokenizer_model"
UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 2, 3, 4, 5, 6
UNIGRAM, BPE, WORD, CHAR = 1, 2, 3, 4
TEXTS = ["▁", "▁a", "a", "b", "ab", "aba", "▁the", "The", "c", "at", "'s", "é", "日"]


def varint(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(**values):
    return b"".join(field(int(number[1:]), value) for number, value in values.items())


def charsmap():
    """A double array of one key: "a" becomes "bb"."""
    units = [0] * 512
    root, leaf = 256, 256 ^ ord("a")
    units[0] = root << 10
    units[leaf] = (1 << 10) | 1 << 8 | ord("a")
    units[leaf ^ 1] = 1 << 31
    return struct.pack("<I512I", 4 * 512, *units) + b"bb\0"


def model(kind, more=(), trainer=b"", normalizer=b"", denormalizer=b""):
    pieces = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL), *((text, 1) for text in TEXTS), *more]
    made = b"".join(field(1, message(_1=text, _2=-1.0 - n, _3=type)) for n, (text, type) in enumerate(pieces))
    return made + field(2, field(3, kind) + trainer) + field(3, normalizer) + field(5, denormalizer)


def main():
    all_bytes = [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]
    bare = message(_3=0, _4=0)
    files = {
        "unigram": model(UNIGRAM, normalizer=field(2, charsmap())),
        "unigram_bytes": model(UNIGRAM, all_bytes, field(35, 1), bare),
        "bpe": model(BPE, [("x", UNUSED), ("bab", UNUSED), ("ba", 1), ("sat", USER_DEFINED)], field(24, 1)),
        "bpe_bytes": model(BPE, all_bytes, field(35, 1), bare, field(2, charsmap())),
        "word": model(WORD),
        "char": model(CHAR, [("cat", USER_DEFINED)], normalizer=bare),
        "truncated": model(UNIGRAM)[:-3],
    }
    FOLDER.mkdir(exist_ok=True)
    for name, data in files.items():
        (FOLDER / f"{name}.model").write_bytes(data)


if __name__ == "__main__":
    main()
