"""Functions of Python as masks and biases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qkv._types import BiasRule, MaskRule

TYPES: dict[str, Any] = {"mask": numpy.bool_, "bias": numpy.float64}


def evaluate(
    word: Literal["mask", "bias"], rule: MaskRule | BiasRule, B: int, H: int, Tq: int, Tk: int
) -> NDArray[Any]:
    """What rule(b, h, i, j) says of every place at once, as an array that broadcasts to [B, H, Tq, Tk].

    It is called once, with four arrays of indices, [B, 1, 1, 1], [1, H, 1, 1], [1, 1, Tq, 1] and [1, 1, 1, Tk]. An axis
    that the rule does not look at stays 1, and costs nothing.
    """
    b, h, i, j = numpy.ogrid[:B, :H, :Tq, :Tk]
    try:
        said = numpy.asanyarray(rule(b, h, i, j))
    except ValueError as error:
        if "truth value" not in str(error):
            raise
        raise ValueError(
            f"{word}: the function asks whether an array is true: it is called once, with arrays of indices; "
            "write & | ~ and numpy.where in place of and, or, not and if"
        ) from error
    if word == "mask" and said.dtype != numpy.bool_:
        raise TypeError(f"mask: expected a function that gives bool, got {said.dtype}")
    if said.ndim > 4:
        raise ValueError(f"{word}: expected a function that gives at most four axes, got shape {said.shape}")
    return numpy.atleast_1d(said.astype(TYPES[word], copy=False))
