"""Arguments that the package brings into shape before the engine sees them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item")


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
