"""Replies as Python has them, in the form that the command prints."""

import numpy

# As the engine calls them.
TYPES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "int64": "i64", "int32": "i32", "uint8": "u8", "bool": "b8",
}  # fmt: skip


def in_json(value):
    """Arrays as {"dtype", "shape", "values"}, with None for what is not finite."""
    if isinstance(value, dict):
        return {name: in_json(one) for name, one in value.items()}
    if isinstance(value, list):
        return [in_json(one) for one in value]
    if not isinstance(value, numpy.ndarray):
        return value
    numbers = value.ravel().astype(numpy.float64)
    values = [float(one) if numpy.isfinite(one) else None for one in numbers]
    return {"dtype": TYPES[value.dtype.name], "shape": [*value.shape], "values": values}
