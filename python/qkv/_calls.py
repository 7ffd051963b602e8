"""What is wrong with a call of the engine, in words that name the argument."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import functools
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

WHOLE = (-(2**63), 2**63 - 1)
RANGES = {  # of whole numbers that are others in the engine
    "seed": (0, 2**64 - 1),
    "threads": (1, 65_536),
    "answer": (1, 4096),
    "set_threads.count": (1, 65_536),
    "height": (0, 2**31 - 1),
    "decimals": (0, 2**31 - 1),
}
PLAIN = (bool, int, float, complex, str, bytes, type(None))
WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "True or False",
    "None": "None",
    "Align": "'bottom_right' or 'top_left'",
    "Stage": "a stage, such as 'weights'",
    "AnyArray": "an array",
    "Numbers": "a list of numbers",
    "WholeNumbers": "a list of whole numbers",
    "Part": "a slice or a pair (begin, end)",
}
HALF_A_PAIR = "expected text that UTF-8 has, got one with half a pair of surrogates"
# What is called otherwise outside of the engine.
FUNCTIONS = {
    "call": "Model",
    "run": "trace",
    "ids": "encode",
    "rows": "encode",
    "heatmaps_svg": "heatmap",
    "find": "id",
}
ARRAYS = ("q", "k", "v", "d_out", "out", "lse", "values")  # where the type alone does not say so


@dataclasses.dataclass
class Parameter:
    name: str
    type: ast.expr | None  # None: anything
    is_optional: bool
    is_keyword: bool


@dataclasses.dataclass
class Signature:
    name: str
    parameters: list[Parameter]
    takes_any_number: bool  # *lengths

    @property
    def positional(self) -> list[Parameter]:
        return [one for one in self.parameters if not one.is_keyword]


def explained(function: Any, positional: tuple[Any, ...], named: dict[str, Any]) -> Exception | None:
    """The error to raise for a call that nanobind refuses; None where its own words are the best that there are."""
    if function.__name__ == "__init__":
        name = function.__qualname__.split(".")[-2]
    else:
        name = FUNCTIONS.get(function.__name__, function.__name__)
    faults: list[Exception | None] = []
    for text, *_ in function.__nb_signature__:
        signature = _read(name, text)
        faults.append(_fault(signature, positional, named))
    nearest = _nearest(faults)
    return TypeError(*nearest.args) if isinstance(nearest, _WrongArguments) else nearest


def _nearest(faults: Sequence[Exception | None]) -> Exception | None:
    """Of overloads: the fault of the first whose arguments are those of the call."""
    of_values = [fault for fault in faults if not isinstance(fault, _WrongArguments)]
    return of_values[0] if of_values else faults[0]


class _WrongArguments(TypeError):
    """Arguments that a function does not have, or that are left out; raised as TypeError."""


@functools.lru_cache(maxsize=256)
def _read(name: str, text: str) -> Signature:
    tree = ast.parse(re.sub(r"= \\\d+", "= ...", text) + ": ...").body[0]
    assert isinstance(tree, ast.FunctionDef)
    given = tree.args
    plain = [*given.posonlyargs, *given.args]
    first_optional = len(plain) - len(given.defaults)
    parameters = [Parameter(one.arg, one.annotation, n >= first_optional, False) for n, one in enumerate(plain)]
    for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        parameters.append(Parameter(one.arg, one.annotation, default is not None, True))
    return Signature(name, parameters, given.vararg is not None)


def _fault(signature: Signature, positional: tuple[Any, ...], named: Mapping[str, Any]) -> Exception | None:
    places = signature.positional
    if len(positional) > len(places) and not signature.takes_any_number:
        known = [one.name for one in places if one.name != "self"]
        return _WrongArguments(
            f"{signature.name}: expected at most {len(known)} arguments without a name ({', '.join(known)}), got "
            f"{len(positional) - len(places) + len(known)}"
        )
    values = {one.name: value for one, value in zip(places, positional, strict=False)}
    for name, value in named.items():
        if name in values:
            return _WrongArguments(f"{signature.name}: {name}: expected one value, got two")
        values[name] = value
    return _fault_of_names(signature, values) or _fault_of_values(signature, values)


def _fault_of_names(signature: Signature, values: Mapping[str, Any]) -> Exception | None:
    known = [one.name for one in signature.parameters if one.name != "self"]
    for name in values:
        if name not in known and name != "self":
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            return _WrongArguments(
                f"{signature.name}: {name}: expected the name of an argument: {', '.join(known)}, got "
                f"{said(values[name])}{hint}"
            )
    for one in signature.parameters:
        if one.name not in values and not one.is_optional:
            return _WrongArguments(f"{signature.name}: {one.name}: expected {_expected(one)}, got nothing")
    return None


def _fault_of_values(signature: Signature, values: Mapping[str, Any]) -> Exception | None:
    for one in signature.parameters:
        if one.name == "self" or one.name not in values:
            continue
        value = values[one.name]
        outside = _fault_of_range(signature.name, one, value)
        if outside is not None or not _fits(one.type, value):
            kind, expected = (TypeError, _expected(one)) if outside is None else (ValueError, outside)
            return kind(f"{signature.name}: {one.name}: expected {expected}, got {_got(one, value)}")
        if not _is_utf8(value):
            return ValueError(f"{signature.name}: {one.name}: {HALF_A_PAIR}")
    return None


def require_utf8(function: str, name: str, value: Any) -> None:
    """Raises ValueError for a text that cannot be handed on."""
    if not _is_utf8(value):
        raise ValueError(f"{function}: {name}: {HALF_A_PAIR}")


def _is_utf8(value: Any) -> bool:
    """Whether a text, and each in a list or dict, has no half of a pair of surrogates."""
    if isinstance(value, str):
        return not any("\ud800" <= letter <= "\udfff" for letter in value)
    if hasattr(value, "keys"):
        return all(_is_utf8(one) for one in [*value, *value.values()])
    return not _is_list(value) or hasattr(value, "__array__") or all(_is_utf8(one) for one in value)


def _fault_of_range(function: str, parameter: Parameter, value: Any) -> str | None:
    """What a number of the right type had to be, if it is another."""
    types = [_name(one) for one in _members(parameter.type)]
    if "float" in types and isinstance(value, int) and not _fits_float(value):
        return "a number that a float holds"
    if "int" not in types or not _is_whole(value):
        return None
    least, most = RANGES.get(f"{function}.{parameter.name}", RANGES.get(parameter.name, WHOLE))
    if least <= operator.index(value) <= most:
        return None
    return "a whole number of 64 bits" if (least, most) == WHOLE else f"a whole number from {least} to {most}"


def _members(type: ast.expr | None) -> list[ast.expr]:
    if isinstance(type, ast.BinOp):
        return [*_members(type.left), *_members(type.right)]
    return [] if type is None else [type]


def _name(type: ast.expr) -> str:
    """The last word: "Sequence" of collections.abc.Sequence[int]."""
    if isinstance(type, ast.Subscript):
        return _name(type.value)
    if isinstance(type, ast.Constant):
        return str(type.value)
    return type.attr if isinstance(type, ast.Attribute) else type.id if isinstance(type, ast.Name) else "object"


def _fits(type: ast.expr | None, value: Any) -> bool:
    return type is None or any(_fits_one(one, value) for one in _members(type))


def _fits_one(type: ast.expr, value: Any) -> bool:
    name = _name(type)
    if name == "int":
        return _is_whole(value)
    if name == "float":
        return not isinstance(value, str) and _fits_float(value)
    if name in ("Literal", "Stage", "Align"):
        return isinstance(value, str)
    if name in ("Sequence", "list"):
        return _is_list(value) and all(_fits(_parts(type)[0] if _parts(type) else None, one) for one in value)
    if name == "tuple":
        return _is_list(value) and _fits_each(_parts(type), list(value))
    if name in _CLASSES:
        return isinstance(value, _CLASSES[name])
    return value is not None


_CLASSES: dict[str, type] = {"str": str, "bool": bool, "None": type(None), "dict": dict}


def _parts(type: ast.expr) -> list[ast.expr]:
    if not isinstance(type, ast.Subscript):
        return []
    return list(type.slice.elts) if isinstance(type.slice, ast.Tuple) else [type.slice]


def _fits_each(types: Sequence[ast.expr], values: Sequence[Any]) -> bool:
    return len(types) == len(values) and all(_fits(one, value) for one, value in zip(types, values, strict=True))


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes)) or hasattr(value, "__array__")


def _is_whole(value: Any) -> bool:
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _fits_float(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _expected(parameter: Parameter) -> str:
    words = [_expected_one(one) for one in _members(parameter.type) if _name(one) != "object"]
    if words and words != ["None"]:
        return " or ".join(words)
    return "an array" if parameter.name in ARRAYS else "a value"


def _expected_one(type: ast.expr) -> str:
    name = _name(type)
    if name == "Literal":
        return " or ".join(ast.unparse(one) for one in _parts(type))
    if name in ("Sequence", "list"):
        return f"a list of {_kind_of_items(_parts(type)[0]) if _parts(type) else 'values'}"
    return WORDS.get(name, name)


def _kind_of_items(type: ast.expr) -> str:
    if _name(type) == "tuple":
        parts = _parts(type)
        return "pairs" if len(parts) == 2 else f"tuples of {len(parts)}"
    return {"int": "whole numbers", "float": "numbers", "str": "texts"}.get(_name(type), "values")


def _got(parameter: Parameter, value: Any) -> str:
    """The value, or of a list the first that is not of its kind."""
    for type in _members(parameter.type):
        if _name(type) in ("Sequence", "list") and _is_list(value) and _parts(type):
            for n, one in enumerate(value):
                if not _fits(_parts(type)[0], one):
                    of = f" of {len(one)}" if said(one) == "tuple" else ""
                    return f"{said(one)}{of} at {n}"
    return said(value)


def is_plain_list(value: Any) -> bool:
    return type(value) in (list, tuple) and len(value) <= 8 and all(isinstance(one, PLAIN) for one in value)


def said(value: object) -> str:
    """Numbers, texts and lists of some of them as they are, if they are short; else the type."""
    if isinstance(value, PLAIN) or is_plain_list(value):
        try:
            text = repr(value)
        except ValueError:  # a whole number of thousands of digits
            return f"a whole number of {value.bit_length()} bits" if isinstance(value, int) else type(value).__name__
        return text if len(text) <= 60 else f"{text[:40]}… of {len(text)} characters"
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
