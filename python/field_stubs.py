"""Writes _fields.pyi: the fields of questions as types, from their descriptions in the engine."""

import keyword
import pathlib
import sys

from qkv import _models

HEAD = """# Made from the fields of the engine's questions.
from collections.abc import Sequence
from typing import Any, Literal, Required, TypeAlias, TypedDict, Unpack, overload

from numpy.typing import NDArray

Numbers: TypeAlias = "NDArray[Any] | Sequence[float] | Sequence[Numbers]"
"""


def fields_type(name, fields):
    """A TypedDict of (name, type, default, is required, meaning)."""
    lines = [f"class {name}(TypedDict, total=False):"]
    for field, annotation, _, is_required, meaning in fields:
        assert not keyword.iskeyword(field), f"{name}: {field} needs another name in Python"
        lines.append(f"    {field}: {f'Required[{annotation}]' if is_required else annotation}  # {meaning}")
    return "\n".join([*lines, "    pass"] if not fields else lines)


def camel(words):
    return "".join(word.capitalize() for word in words.replace("_", " ").split())


def stub():
    parts = [HEAD]
    for function, fields in _models.arguments().items():
        parts.append(fields_type(f"{camel(function)}Fields", fields))
    questions = [(name, f"{camel(name)}Question", fields) for name, fields, _ in _models.questions()]
    parts += [fields_type(type, fields) for _, type, fields in questions]
    for name, type, _ in questions:
        parts.append(f"@overload\ndef ask(question: Literal[{name!r}], /, **fields: Unpack[{type}]) -> Any: ...")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(stub(), encoding="utf-8")
