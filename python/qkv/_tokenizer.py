"""Texts as tokens, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from qkv import _models
from qkv._given import path_of

if TYPE_CHECKING:
    import os


def require_opened(word: str, given: object, kind: type) -> None:
    """Raises TypeError for a name or path in place of what open() reads."""
    if not isinstance(given, kind):
        raise TypeError(f"{word}: expected what {word}.open() reads, got {given!r}; call qkv.{word}.open(name)")


class Token(NamedTuple):
    """One token: its id, how it is shown ("␣cat"), and the characters [begin, end) of the text that it stands for.

    source is "text", "pair" (of the second text), or "added": a special token of the template, at no place.
    """

    id: int
    shown: str
    begin: int
    end: int
    source: str


class Tokenizer:
    """What cuts texts into tokens. Get one from model.tokenizer or Tokenizer.open()."""

    def __init__(self, engine: _models.Tokenizer) -> None:
        require_opened("Tokenizer", engine, _models.Tokenizer)
        self._engine = engine

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """The tokenizer of a folder, or of a tokenizer.json, vocab.txt, vocab.json with merges.txt, or tokenizer.model.

        Raises qkv.Error naming the file and the place in it.
        """
        return cls(_models.Tokenizer.open(path_of("open", "path", path)))

    def __len__(self) -> int:
        return self._engine.size

    def encode(self, text: str, pair: str | None = None, *, special: bool = True) -> list[int]:
        """The ids of a text's tokens; with those of the template ([CLS], <s>) unless `special` is false."""
        return self._engine.ids(text, pair, special)

    def tokens(self, text: str, pair: str | None = None, *, special: bool = True) -> list[Token]:
        """The Tokens of a text, with their places in characters. A part of a character has all of it as its place."""
        rows = self._engine.rows(text, pair, special)
        places = {"text": _Places(text), "pair": _Places(pair or "")}
        found: list[Token] = []
        for id, shown, begin, end, source in rows:
            place = places.get(source)
            if place is None:
                found.append(Token(id, shown, 0, 0, source))
            else:
                found.append(Token(id, shown, place.begin(begin), place.end(end), source))
        return found

    def decode(self, ids: Iterable[int], *, special: bool = False) -> str:
        """The text of ids, without special tokens unless `special` is true. Raises ValueError for an unknown id."""
        return self._engine.decode(list(ids) if isinstance(ids, Iterable) else ids, special)

    def shown(self, id: int) -> str:
        """A token for people, on one line: a space as "␣", a line end as "⏎"."""
        return self._engine.shown(id)

    def id(self, piece: str) -> int | None:
        """The id of a whole piece, such as "[MASK]"; None if there is none."""
        return self._engine.find(piece)

    def __repr__(self) -> str:
        return f"qkv.Tokenizer({len(self)} pieces)"


class _Places:
    """Bytes of a text in UTF-8 as characters."""

    def __init__(self, text: str) -> None:
        self._starts: list[int] | None = None
        if not text.isascii():
            self._starts = []
            for place, character in enumerate(text):
                self._starts.extend([place] * len(character.encode("utf-8", "surrogatepass")))
            self._starts.append(len(text))

    def begin(self, byte: int) -> int:
        return byte if self._starts is None else self._starts[byte]

    def end(self, byte: int) -> int:
        if self._starts is None or byte == 0:
            return byte
        return self._starts[byte - 1] + 1
