"""Arguments that the package brings into shape before the engine sees them."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import Any, TypeVar, cast

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


MOST_NUMBERS = 1 << 24  # of an array that is written out


def numbers_text(function: str, name: str, given: Any) -> str | None:
    """A number, or lists or an array of numbers, as nested brackets; None for anything else."""
    if isinstance(given, bool):
        return None
    if hasattr(given, "__array__"):
        import numpy

        array = numpy.asarray(given)
        if array.size > MOST_NUMBERS:
            raise ValueError(
                f"{function}: {name}: expected at most {MOST_NUMBERS} numbers, or a file, got {array.size}"
            )
        given = array.tolist()
    try:
        return _written(given)
    except TypeError:
        return None


def _written(given: Any) -> str:
    if isinstance(given, (list, tuple)):
        return f"[{','.join(map(_written, cast('list[Any]', given)))}]"
    if isinstance(given, bool):
        return str(int(given))
    return repr(operator.index(given) if hasattr(given, "__index__") else float(_number(given)))


def _number(given: Any) -> Any:
    if isinstance(given, (str, bytes)):
        raise TypeError
    return given
