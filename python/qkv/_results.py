"""What calls give back."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

if TYPE_CHECKING:  # NumPy is imported by the first call that needs it
    import numpy
    from numpy.typing import NDArray

_Kind = TypeVar("_Kind")  # arrays as q is one; None, too, where only some gradients are wanted
_Other = TypeVar("_Other")  # arrays of the same library, of other axes or element types


def said(result: Any) -> str:
    """A line: what each array is, not what it holds."""
    fields = ", ".join(f"{name}={_brief(getattr(result, name))}" for name in result._fields)
    return f"qkv.{type(result).__name__}({fields})"


def _brief(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, list):
        return f"[{', '.join(map(_brief, cast('list[Any]', value)))}]"
    return f"{str(value.dtype).rpartition('.')[2]} {[*value.shape]}"


class AttentionResult(NamedTuple, Generic[_Kind, _Other]):
    """out [B, Hq, Tq, Dv], and lse [B, Hq, Tq]: the natural logarithm of each row's sum."""

    out: _Kind
    lse: _Other

    def __repr__(self) -> str:
        return said(self)


class AttentionGradients(NamedTuple, Generic[_Kind, _Other]):
    """Gradients in the shape of what they belong to; None where not computed. d_bias has one array for each summand."""

    d_q: _Kind
    d_k: _Kind
    d_v: _Kind
    d_bias: list[_Other]
    d_sinks: _Other | None

    def __repr__(self) -> str:
        return said(self)


class _Places(NamedTuple):
    Tq: int
    Tk: int
    first_i: int = 0
    step_i: int = 1
    first_j: int = 0
    step_j: int = 1


class MatrixWindow(_Places):
    """A window of a matrix of Tq queries and Tk keys, for `within`: query n of q is query first_i + n * step_i of it.

    Likewise key m of k is key first_j + m * step_j. Raises TypeError for what is no whole number, and ValueError for a
    step below 1 and any other number below 0.
    """

    __slots__ = ()

    def __new__(
        cls, Tq: int, Tk: int, first_i: int = 0, step_i: int = 1, first_j: int = 0, step_j: int = 1
    ) -> MatrixWindow:
        given = (Tq, Tk, first_i, step_i, first_j, step_j)
        return super().__new__(cls, *(_place(name, one) for name, one in zip(cls._fields, given, strict=True)))

    @classmethod
    def _make(cls, iterable: Iterable[int]) -> MatrixWindow:  # pyright: ignore[reportIncompatibleMethodOverride]
        return cls(*iterable)


MatrixWindow.__new__.__annotations__ = {**dict.fromkeys(MatrixWindow._fields, int), "return": MatrixWindow}


def _place(name: str, given: Any) -> int:
    least = 1 if name.startswith("step") else 0
    try:
        number = None if isinstance(given, bool) else operator.index(given)
    except TypeError:
        number = None
    if number is not None and least <= number < 2**63:
        return number
    from qkv import _calls

    kind = TypeError if number is None else ValueError
    raise kind(f"MatrixWindow: {name}: expected a whole number, {least} or more, got {_calls.said(given)}")


class CellMaps(NamedTuple):
    """Matrices of weights (of a GradientProbe: sizes of gradients) in cells, float64 [maps, rows, columns].

    visible is the share of a cell's pairs that are visible; hidden pairs count as 0 in mean and largest.
    """

    mean: NDArray[numpy.float64]
    largest: NDArray[numpy.float64]
    visible: NDArray[numpy.float64]

    def __repr__(self) -> str:
        return said(self)


class TopKeys(NamedTuple):
    """The keys of largest weight of each query, largest first: keys int64 and weights, both [Tq, count]."""

    keys: NDArray[numpy.int64]
    weights: NDArray[Any]

    def __repr__(self) -> str:
        return said(self)

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row for each key of each query: query, rank (from 0), key, weight."""
        queries, count = self.keys.shape
        return _frame(
            {
                "query": [query for query in range(queries) for _ in range(count)],
                "rank": [*range(count)] * queries,
                "key": self.keys.ravel(),
                "weight": self.weights.ravel(),
            }
        )


class RowStatistics(NamedTuple):
    """Statistics of the rows of one head, each [Tq]; 0 for a row that sees nothing."""

    visible: NDArray[numpy.int64]  # keys that the query sees
    mass: NDArray[numpy.float64]  # the sum of the weights: less than 1 with a sink
    entropy: NDArray[numpy.float64]  # -sum of w log w, in nats
    normalised_entropy: NDArray[numpy.float64]  # entropy / log(visible)
    distance: NDArray[numpy.float64]  # the sum of w |p - j|, in tokens
    largest: NDArray[numpy.float64]
    first: NDArray[numpy.float64]  # the weight of key 0
    diagonal: NDArray[numpy.float64]  # the weight of the key at the query's own position

    def __repr__(self) -> str:
        return said(self)

    def mean(self, column: str) -> float:
        """The mean of a column over the rows that see something; 0 if there is none. ValueError for another name."""
        if column not in self._fields:
            raise ValueError(f"mean: column: expected one of {', '.join(self._fields)}, got {column!r}")
        rows = self.visible > 0
        return float(getattr(self, column)[rows].mean()) if rows.any() else 0.0

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row for each query, and these columns."""
        return _frame(self._asdict())


def _frame(columns: dict[str, Any]) -> Any:
    from qkv._pictures import frame

    return frame(columns)
