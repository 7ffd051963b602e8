"""How results look in a notebook: SVG of the engine, pages of the studio, matplotlib and pandas where installed."""

from __future__ import annotations

import base64
import html
import importlib
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from qkv._calls import require_utf8
from qkv._given import list_of
from qkv._qkv import Error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from qkv._qkv import Bias, GradientProbe, Mask, Probe
    from qkv._widget import Live

MOST_CELLS = 32  # of a side of a map
MOST_HEADS = 16  # in one picture
MOST_LETTERS = 48  # of names side by side under a plot
GRADIENT = "size of gradients"  # what a number of a GradientProbe's map is


def escaped(text: str) -> str:
    return html.escape(text)


def table_html(title: str, rows: dict[str, str]) -> str:
    cells = "".join(f"<tr><th>{escaped(name)}</th><td>{escaped(value)}</td></tr>" for name, value in rows.items())
    return f"<table><caption>{escaped(title)}</caption>{cells}</table>"


class Picture:
    """A picture drawn by the engine. In a notebook it shows itself."""

    def __init__(self, title: str, svg: str) -> None:
        self.title = title
        self.svg = svg

    def save(self, path: str) -> None:
        """Writes the picture as an SVG file."""
        pathlib.Path(path).write_text(self.svg, encoding="utf-8")

    def __repr__(self) -> str:
        return f"qkv.Picture({self.title!r})"

    def _repr_html_(self) -> str:
        return shown(self.svg)


def heatmap(
    values: Any,
    *,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    title: str = "",
    titles: Sequence[str] = (),
    axes: tuple[str, str] = ("query", "key"),
    value: str = "",
    low: float | None = None,
    high: float | None = None,
    decimals: int = 2,
) -> Picture:
    """A matrix [rows, columns] in cells with their numbers; or several, [maps, rows, columns], on one scale.

    rows, columns  what the rows and the columns are called, the tokens for example
    title, titles  over the picture, and over each map
    axes           what rows and columns stand for
    value          what a number is: it stands under the colour bar
    low, high      the ends of the colour bar; those of the values if None
    decimals       of the numbers in the cells, which are written where they fit

    Cells of -inf are hatched. Where a number is negative, colours are symmetric about 0. Raises ValueError for another
    number of axes, and for labels of the wrong number.
    """
    import numpy

    maps = numpy.asanyarray(values)  # a masked array stays one, which the engine refuses
    if maps.ndim not in (2, 3):
        raise ValueError(f"heatmap: values: expected [rows, columns] or [maps, rows, columns], got {list(maps.shape)}")
    maps = numpy.asanyarray(maps if maps.ndim == 3 else maps[None], dtype="float64", order="C")
    if titles and len(titles) != len(maps):
        raise ValueError(f"heatmap: titles: expected {len(maps)}, one a map, got {len(titles)}")
    require_utf8("heatmap", "titles", titles)
    names = list(titles) if titles else ["" for _ in maps]
    signed = bool((maps[numpy.isfinite(maps)] < 0).any())
    return Picture(
        title,
        _maps_svg(
            title,
            maps,
            None,
            names,
            rows,
            columns,
            axes=axes,
            value=value,
            diverging=signed,
            low=low,
            high=high,
            decimals=decimals,
        ),
    )


def mask_picture(mask: Mask, Tq: int, Tk: int, B: int, H: int) -> Picture:
    from qkv import _models

    return Picture(str(mask), _models.mask_svg(mask, Tq, Tk, B, H))


def bias_picture(bias: Bias, Tq: int, Tk: int, H: int) -> Picture:
    titles = [f"head {head}" for head in range(H)] if H > 1 else []
    return heatmap(bias.array(Tq, Tk, H=H)[0], title=str(bias), titles=titles, value="added to the score")


def shown(svg: str) -> str:
    """An SVG document as HTML: a pixel for each of its points, and no wider than the cell."""
    width = re.search(r' width="([\d.]+)pt"', svg)
    style = f"width:{width.group(1)}px;" if width else ""
    return f'<svg style="{style}max-width:100%;height:auto" ' + svg.partition("<svg ")[2]


def heads_svg(
    probe: Probe | GradientProbe, title: str, queries: list[str], keys: list[str], value: str = "weight"
) -> str:
    """The heads' weights in cells, or the sizes of their gradients.

    Rows and columns have the tokens' names where each is a cell of its own.
    """
    _, heads, rows, columns = probe.shape
    shown = min(heads, MOST_HEADS)
    maps = probe.map(min(rows, MOST_CELLS), min(columns, MOST_CELLS), heads=list(range(shown)))
    names = [f"head {head}" for head in range(shown)]
    if shown < heads:
        title += f": the first {shown} of {heads} heads"
    row_names = queries if rows <= MOST_CELLS else []
    column_names = keys if columns <= MOST_CELLS else []
    hidden = maps.visible == 0
    return _maps_svg(title, maps.mean, hidden, names, row_names, column_names, places=(rows, columns), value=value)


def _maps_svg(
    title: str,
    maps: NDArray[Any],
    hidden: NDArray[Any] | None,
    names: list[str],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    axes: tuple[str, str] = ("query", "key"),
    places: tuple[int, int] | None = None,
    value: str = "weight",
    diverging: bool = False,
    low: float | None = None,
    high: float | None = None,
    decimals: int = 2,
) -> str:
    from qkv import _models

    return _models.heatmaps_svg(
        title,
        maps,
        hidden,
        names=names,
        rows=list_of("heatmap", "rows", rows, "a list of texts"),
        columns=list_of("heatmap", "columns", columns, "a list of texts"),
        axes=axes,
        places=places,
        value=value,
        diverging=diverging,
        low=low,
        high=high,
        decimals=decimals,
    )


def require_names(call: str, probe: Probe | GradientProbe, rows: list[str], columns: list[str]) -> None:
    for name, labels, length in (("rows", rows, probe.shape[2]), ("columns", columns, probe.shape[3])):
        if labels and len(labels) != length:
            raise ValueError(f"{call}: {name}: expected {length} names, got {len(labels)}")


def probe_picture(probe: Probe, title: str, rows: list[str], columns: list[str]) -> Picture:
    require_names("picture", probe, rows, columns)
    return Picture(title, heads_svg(probe, title, rows, columns))


def probe_html(probe: Probe) -> str:
    return shown(heads_svg(probe, "weights", [], []))


def gradients_picture(probe: GradientProbe, title: str, rows: list[str], columns: list[str]) -> Picture:
    require_names("picture", probe, rows, columns)
    return Picture(title, heads_svg(probe, title, rows, columns, GRADIENT))


def gradients_html(probe: GradientProbe) -> str:
    return shown(heads_svg(probe, "gradients", [], [], GRADIENT))


def plot_matrix(weights: NDArray[Any], queries: list[str], keys: list[str], title: str, ax: Any) -> Any:
    ax = ax if ax is not None else new_axes()
    picture = ax.imshow(weights, vmin=0, vmax=1, cmap="viridis", interpolation="nearest")
    ax.set(title=title, xlabel="key", ylabel="query")
    if queries and len(queries) <= MOST_CELLS:
        ax.set_yticks(range(len(queries)), queries)
    if keys and len(keys) <= MOST_CELLS:
        upright = len(keys) * max(map(len, keys)) > MOST_LETTERS
        ax.set_xticks(range(len(keys)), keys, rotation=90 if upright else 0)
    ax.figure.colorbar(picture, ax=ax, label="weight")
    return ax


def plot_probe(probe: Probe | GradientProbe, h: int, b: int, ax: Any, value: str = "weight") -> Any:
    _, _, rows, columns = probe.shape
    cells = probe.map(min(rows, 512), min(columns, 512), b, heads=[h])
    ax = ax if ax is not None else new_axes()
    picture = ax.imshow(
        cells.mean[0], vmin=0, cmap="viridis", interpolation="nearest", extent=(0, columns, rows, 0), aspect="auto"
    )
    ax.set(title=f"head {h}", xlabel="key", ylabel="query")
    ax.figure.colorbar(picture, ax=ax, label=f"mean {value} of a cell")
    return ax


def plot_gradients(probe: GradientProbe, h: int, b: int, ax: Any) -> Any:
    return plot_probe(probe, h, b, ax, GRADIENT)


def new_axes() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plot: matplotlib is not here: pip install matplotlib") from error
    return pyplot.subplots(layout="constrained")[1]


def frame(rows: Any) -> Any:
    try:
        pandas: Any = importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError("to_pandas: pandas is not here: pip install pandas") from error
    return pandas.DataFrame(rows)


class Page:
    """A page of the studio in one file, which needs no server and no network. In a notebook it shows itself."""

    def __init__(self, title: str, document: str, height: int) -> None:
        self.title = title
        self.document = document
        self.height = height

    def save(self, path: str) -> None:
        """Writes the page as one file that any browser opens."""
        pathlib.Path(path).write_text(self.document, encoding="utf-8")

    def __repr__(self) -> str:
        return f"qkv.Page({self.title!r}, {len(self.document) / 1e6:.1f} MB)"

    def _repr_html_(self) -> str:
        # The page writes its address, which about:srcdoc does not allow: the frame goes on to a blob of its own.
        # Sandboxed, it reaches nothing of the notebook's.
        encoded = base64.b64encode(self.document.encode()).decode()
        frame = (
            f'<script>const bytes = Uint8Array.from(atob("{encoded}"), (c) => c.charCodeAt(0));'
            'location.replace(URL.createObjectURL(new Blob([bytes], { type: "text/html;charset=utf-8" })));</script>'
        )
        return (
            f'<iframe title="{escaped(self.title)}" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{self.height}px;border:0" srcdoc="{escaped(frame)}"></iframe>'
        )


def exported(arguments: list[str], function: str = "show") -> str:
    """The page that the package's command writes; "" of one that goes into a file of the arguments."""
    program = pathlib.Path(__file__).parent / "bin" / "qkv"
    if not program.exists():
        raise Error(f"{function}: this package was built without the command: {program} is not there")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "page.html"
        run = subprocess.run(
            [program, *(str(path) if one is FILE else one for one in arguments)],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode != 0:
            is_misuse = run.returncode == 2
            said = re.sub(r"^qkv [a-z]+: ", "", run.stderr.strip())
            # --text and MODEL are arguments of Python's.
            said = re.sub(r"^(?:--)?([A-Za-z-]+): ", lambda name: name[1].lower().replace("-", "_") + ": ", said)
            raise ValueError(f"{function}: {said}") if is_misuse else Error(f"{function}: {said}")
        return path.read_text(encoding="utf-8") if path.exists() else ""


FILE = "\0file"  # where the arguments name the page


def widgets(live: bool | None) -> Any:
    """The module of the live page, where it is asked for; None: in a notebook with anywidget."""
    if live is False or (live is None and "ipykernel" not in sys.modules):
        return None
    try:
        return importlib.import_module("qkv._widget")
    except ImportError as error:
        if live is None:
            return None
        raise ImportError("show: live=True needs anywidget: pip install anywidget") from error


def live_page(
    module: Any, model: str, page: str, fields: dict[str, Any], height: int, saved: Callable[[], Page] | None
) -> Live:
    from qkv import _models

    named = {"model": model or None, **fields}
    return module.Live(_models.Studio(model, ""), module.address_of(page, named), height, saved)


def probe_page(probe: Probe, h: int, rows: list[str], columns: list[str], title: str, height: int) -> Live:
    require_names("show", probe, rows, columns)
    if not 0 <= h < probe.shape[1]:
        raise ValueError(f"show: h: expected 0 to {probe.shape[1] - 1}, got {h}")
    module = widgets(True)
    from qkv import _models

    studio = _models.Studio(probe, title, rows, columns)
    return module.Live(studio, module.address_of("far", {"head": f"tokens.0.{h}"}), height)


def mask_page(mask: Any, Tq: int, Tk: int, height: int, live: bool | None) -> Page | Live:
    text = str(mask)
    if "<" in text:
        raise ValueError(f"show: expected a mask whose text says it all, got {text}")

    def saved() -> Page:
        return Page(text, exported(["view", "--mask", text, "--export", FILE]), height)

    module = widgets(live)
    if module is None:
        return saved()
    fields = {"mask": text, "tq": Tq, "tk": Tk}
    return live_page(module, "", "patterns/mask", fields, height, saved)


def model_page(model: str, text: str | None, example: int | None, height: int) -> Page:
    require_utf8("show", "text", text)
    if example is not None:
        document = exported(["explain", "--model", model, "--example", str(example), "--quiet", "--html", FILE])
    else:
        words = [] if text is None else ["--text", text]
        document = exported(["view", model, *words, "--export", FILE])
    return Page(f"{model}: {text}" if text is not None else model, document, height)
