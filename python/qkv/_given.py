"""Arguments that the package brings into shape before the engine sees them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

from qkv._calls import require_utf8, said

Item = TypeVar("Item")


def path_of(function: str, name: str, given: str | os.PathLike[str]) -> str:
    """A text, or a path as one; TypeError of anything else, ValueError of none."""
    try:
        path: object = os.fspath(given)
    except TypeError:
        path = None
    if not isinstance(path, str):
        raise TypeError(f"{function}: {name}: expected a name or path, got {said(given)}")
    if not path:
        raise ValueError(f'{function}: {name}: expected a value, got ""')
    require_utf8(function, name, path)
    return path


def list_of(function: str, name: str, given: Iterable[Item], expected: str) -> list[Item]:
    """The items of what can be gone through; TypeError of anything else."""
    if not isinstance(given, Iterable):
        raise TypeError(f"{function}: {name}: expected {expected}, got {type(given).__name__}")
    return list(given)


def texts_of(function: str, name: str, given: str | Iterable[str]) -> list[str]:
    """One text stands for a list of one."""
    if isinstance(given, str):
        return [given]
    return list_of(function, name, given, "a text or a list of texts")
