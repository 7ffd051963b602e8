"""What ran inside a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, overload

from qkv import _pictures
from qkv._qkv import Error, Probe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from qkv import _models
    from qkv._model import Model
    from qkv._widget import Live

MATRICES = ("raw", "scaled", "softcapped", "biased", "masked", "weights", "dropped")  # of an attention


class Trace:
    """The values of one pass of a model, by the names of docs/trace.md; made by model.trace().

    trace["blocks.0.attn.q"] is a value that ran, trace["blocks.0.attn.weights"] a T x T matrix, computed when it is
    asked for; both are new arrays. `in`, len() and iteration are over the values that were kept.
    """

    def __init__(self, engine: _models.Pass, model: Model, reading: str | int | None, edited: bool) -> None:
        self._engine = engine
        self._reading = reading
        self._edited = edited
        self.model = model

    @property
    def tokens(self) -> list[str]:
        """The tokens that were read, as the tokenizer shows them."""
        return self._engine.tokens

    @property
    def source(self) -> list[str]:
        """The tokens of the source, of an encoder-decoder; else none."""
        return self._engine.source

    @property
    def ids(self) -> list[int]:
        """The ids of `tokens`."""
        return self._engine.ids

    @property
    def names(self) -> list[str]:
        """The values that were kept, in the order in which they were computed; without the T x T matrices."""
        return self._engine.names

    @property
    def attentions(self) -> list[str]:
        """The attentions that were kept: what probe() can be asked for."""
        return self._engine.attentions

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A value, or a matrix of heads. Raises ValueError with the names that were kept."""
        return self._engine.value(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._engine.contains(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def probe(self, name: str) -> Probe:
        """A Probe of that very call, such as "blocks.3.attn": any part of its weights, without the T x T matrix."""
        return self._engine.probe(name)

    @overload
    def show(self, *, height: int = 720, live: Literal[True]) -> Live: ...
    @overload
    def show(self, *, height: int = 720, live: Literal[False]) -> _pictures.Page: ...
    @overload
    def show(self, *, height: int = 720, live: bool | None = None) -> _pictures.Page | Live: ...
    def show(self, *, height: int = 720, live: bool | None = None) -> _pictures.Page | Live:
        """The studio's page of the model on this text, in the cell, as Model.show().

        The page runs the model anew: of a trace with edits, and of ids or an image, it cannot, and raises qkv.Error.
        """
        if self._edited:
            raise Error("show: the studio's page runs the model as it is: this trace has edits")
        if self._reading is None:
            raise Error("show: the studio's page reads a text or an example; this trace read neither")
        if isinstance(self._reading, str):
            return self.model.show(self._reading, height=height, live=live)
        return self.model.show(example=self._reading, height=height, live=live)

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row for each value that was kept: name, shape, dtype, mean, deviation, largest."""
        return _pictures.frame([{"name": name, **_summary(self[name])} for name in self.names])

    def plot(self, name: str | None = None, *, h: int = 0, ax: Any = None) -> Any:
        """The weights of a head over the tokens, on matplotlib's axes: those given, or new ones. Gives the axes.

        `name` is an attention, or its "….weights"; the first that was kept if None.
        """
        attention = self._attention(name)
        labels = self._labels(attention)
        return _pictures.plot_matrix(self.probe(attention).weights(h), *labels, f"{attention}, head {h}", ax)

    def _attention(self, name: str | None) -> str:
        if name is not None:
            attention, _, matrix = name.rpartition(".")
            return attention if matrix == "weights" and attention in self.attentions else name
        if not self.attentions:
            raise ValueError('plot: name: expected an attention that was kept, got none: keep "*.attn"')
        return self.attentions[0]

    def _labels(self, attention: str) -> tuple[list[str], list[str]]:
        """What queries and keys are called, where they are tokens that were read."""
        _, _, queries, keys = self.probe(attention).shape
        of_source = attention.startswith("encoder.")
        rows = self.source if of_source else self.tokens
        columns = self.source if of_source or attention.endswith(".cross") else self.tokens
        return (rows if len(rows) == queries else [], columns if len(columns) == keys else [])

    def __repr__(self) -> str:
        return (
            f"qkv.Trace({self.model.name!r}: {len(self.tokens)} tokens, {len(self)} values, "
            f"{len(self.attentions)} attentions)"
        )

    def _repr_html_(self) -> str:
        """Every head of every attention that was kept, as maps of at most 32 x 32 cells."""
        pictures: list[str] = []
        for name in self.attentions:
            pictures.append(_pictures.shown(_pictures.heads_svg(self.probe(name), name, *self._labels(name))))
        return "".join(pictures) or _pictures.escaped(repr(self))


def _summary(value: NDArray[Any]) -> dict[str, Any]:
    wide = value.astype("float64")
    return {
        "shape": value.shape,
        "dtype": value.dtype.name,
        "mean": wide.mean(),
        "deviation": wide.std(),
        "largest": abs(wide).max(initial=0),
    }


def require_kept(patterns: Sequence[str], run: _models.Pass) -> None:
    """Raises ValueError for the first pattern that meets no value, and no matrix of an attention."""
    matrices = [f"{name}.{stage}" for name in run.attentions for stage in MATRICES]
    known = [*run.names, *run.attentions, *matrices]
    for pattern in patterns:
        wanted = re.compile(".*".join(re.escape(part) for part in pattern.split("*")), re.DOTALL)
        if not any(wanted.fullmatch(name) for name in known):
            raise ValueError(f"trace: keep: expected a pattern of a value that the pass computes, got {pattern!r}")


def edits_of(
    edits: Mapping[str | tuple[str, tuple[int, ...]], Callable[[NDArray[Any]], Any]],
) -> list[tuple[str, list[int], Callable[[NDArray[Any]], Any]]]:
    """(name, heads, function) of each edit."""
    if not hasattr(edits, "items"):
        raise TypeError(f"trace: edit: expected a dict of functions by name, got {type(edits).__name__}")
    found: list[tuple[str, list[int], Callable[[NDArray[Any]], Any]]] = []
    for name, function in edits.items():
        pattern, heads = (name, []) if isinstance(name, str) else (name[0], list(name[1]))
        found.append((pattern, heads, function))
    return found
