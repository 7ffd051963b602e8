"""Functions whose keyword arguments are the fields of a question, and any question by its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from qkv import _models

Function = TypeVar("Function", bound=Callable[..., Any])


def takes(question: str) -> Callable[[Function], Function]:
    """Gives a function, in place of its **given, the arguments of _models.arguments(), each with a line."""

    def described(function: Function) -> Function:
        signature = inspect.signature(function)
        known = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        fields = _models.arguments()[question]
        named = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, annotation, default, *_ in fields
        ]
        told: Any = function
        told.__signature__ = signature.replace(parameters=[*known, *named])
        lines = [f"{name:<19} {meaning}" for name, _, _, _, meaning in fields]
        told.__doc__ = "\n".join([inspect.cleandoc(function.__doc__ or ""), "", *lines])
        return function

    return described


if TYPE_CHECKING:
    from qkv._fields import ask as ask
else:

    def ask(question, /, **fields):
        """What a command answers as JSON, as objects of Python: dicts and lists, with NumPy arrays for tensors.

        `question` is a command, "cost" or "bench_positions", or what only a page of the studio asks: "heads".
        `fields` are those that docs/api.md lists for it, "kv_heads" for --kv-heads. What is a word of Python has
        another name, too: `from` is `first` of cost and task and `start` of train, or **{"from": 200}; an error has
        the one that was given.
        Numbers that are not finite are None. Raises ValueError for a question that there is none, and for fields as the
        command refuses them; TypeError for a field that the question does not have, or of another type; and qkv.Error
        where the command would fail.
        """
        return _models.ask(question, fields)
