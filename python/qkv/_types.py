"""What arguments and results are called in annotations. Type checkers alone read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from qkv._qkv import Bias, Mask
    from qkv._results import MatrixWindow


class HasDLPack(Protocol):
    """An array of PyTorch, JAX, NumPy, or of any library with DLPack."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, Any]: ...


AnyArray: TypeAlias = "NDArray[Any] | HasDLPack | Buffer"  # NumPy gives DLPack to arrays of numbers alone

# Results are of the kind of q: NumPy's with its axes and element type, or another library's.
Axes = TypeVar("Axes", bound=tuple[int, ...])
Element = TypeVar("Element", bound="numpy.dtype[Any]")
Array = TypeVar("Array", bound=HasDLPack)

Align: TypeAlias = Literal["bottom_right", "top_left"]
Stage: TypeAlias = Literal["raw", "scaled", "softcapped", "biased", "masked", "weights", "dropped"]
Target: TypeAlias = Literal[
    "scalar",
    "avx2",
    "avx2vnni",
    "avx512",
    "avx512vnni",
    "avx512bf16",
    "amx",
    "amxf32",
    "neon",
    "neondot",
    "neoni8mm",
    "neonbf16",
    "reference",
]
Want: TypeAlias = Literal["q", "k", "v", "bias", "sinks"]
Part: TypeAlias = "slice | tuple[int, int]"

Numbers: TypeAlias = "Sequence[float] | AnyArray"
WholeNumbers: TypeAlias = "Sequence[int] | AnyArray"
Ragged: TypeAlias = "tuple[WholeNumbers, WholeNumbers]"
Dropout: TypeAlias = "float | tuple[float, int]"
Window: TypeAlias = "MatrixWindow | tuple[int, int, int, int, int, int]"
Windows: TypeAlias = "Window | Sequence[Window]"

Places: TypeAlias = "NDArray[numpy.int64]"
MaskRule: TypeAlias = "Callable[[Places, Places, Places, Places], NDArray[numpy.bool_] | numpy.bool_ | bool]"
BiasRule: TypeAlias = "Callable[[Places, Places, Places, Places], NDArray[Any] | numpy.generic | float]"
ScoreFunction: TypeAlias = (
    "Callable[[Float64Array, Places, Places, Places, Places], NDArray[Any] | numpy.generic | float]"
)
ScoreModification: TypeAlias = "ScoreFunction | tuple[ScoreFunction, ScoreFunction]"
MaskValue: TypeAlias = "Mask | str | AnyArray"
BiasValue: TypeAlias = "Bias | str | AnyArray"
MaskSource: TypeAlias = "MaskValue | MaskRule"
BiasSource: TypeAlias = "BiasValue | BiasRule"

FloatArray: TypeAlias = "NDArray[numpy.floating[Any]]"
Float64Array: TypeAlias = "NDArray[numpy.float64]"
BoolArray: TypeAlias = "NDArray[numpy.bool_]"
