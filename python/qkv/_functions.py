"""Functions of Python as masks and biases."""

import numpy

TYPES = {"mask": numpy.bool_, "bias": numpy.float64}


def evaluate(word, rule, B, H, Tq, Tk):
    """What rule(b, h, i, j) says of every place at once, as an array that broadcasts to [B, H, Tq, Tk].

    It is called once, with four arrays of indices, [B, 1, 1, 1], [1, H, 1, 1], [1, 1, Tq, 1] and [1, 1, 1, Tk]. An axis
    that the rule does not look at stays 1, and costs nothing.
    """
    places = numpy.ogrid[:B, :H, :Tq, :Tk]
    try:
        said = numpy.asarray(rule(*places))
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
