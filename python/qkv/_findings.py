"""What qkv.insight gives: each a small class over what the engine said."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from qkv import _pictures
from qkv._qkv import Error

if TYPE_CHECKING:
    from qkv import _models
    from qkv._types import Float64Array
    from qkv._widget import Live


class Finding:
    """What the engine said of a question: `data`, `table` in words, `pictures` by name.

    data is what `qkv … --json` prints, with arrays for tensors.

    print() shows the table, a notebook the first picture with the table folded below it.
    """

    def __init__(self, report: _models.Report) -> None:
        self._report = report
        self.data: dict[str, Any] = report.data

    @property
    def table(self) -> str:
        """What the command prints, in lines of text."""
        return self._report.table

    @property
    def pictures(self) -> list[str]:
        """The names that svg() takes."""
        return self._report.pictures

    def svg(self, name: str | None = None) -> str:
        """A picture as SVG, the first by default. Raises ValueError for a name that is not in `pictures`."""
        return self._report.svg(name if name is not None else next(iter(self.pictures), ""))

    def __str__(self) -> str:
        return self.table

    def _repr_html_(self) -> str:
        table = f"<pre>{html.escape(self.table)}</pre>"
        if not self.pictures:
            return table
        return f"{_pictures.shown(self.svg())}<details><summary>in numbers</summary>{table}</details>"


def draw_map(ax: Any, values: Any, rows: list[str], columns: list[str], **how: Any) -> Any:
    """A matrix in cells, with its labels and its scale."""
    ax = ax if ax is not None else _pictures.new_axes()
    image = ax.imshow(values, aspect="auto", interpolation="nearest", **how)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xticks(range(len(columns)), columns)
    ax.figure.colorbar(image, ax=ax)
    return ax


class Shown(Finding):
    """A Finding that the studio has a page for."""

    def __init__(self, report: _models.Report, fields: dict[str, Any] | None) -> None:
        super().__init__(report)
        self._fields = fields

    def show(self, *, height: int = 720) -> Live:
        """The studio's page Roles of the same question, live in the cell, as Model.show(live=True): needs anywidget.

        The page asks anew, with as many texts as it likes. Raises qkv.Error where it cannot ask this.
        """
        if self._fields is None:
            raise Error("show: the studio's page takes texts as they are, and no values of another example")
        fields = {name: value for name, value in self._fields.items() if name != "model"}
        return _pictures.live_page(_pictures.widgets(True), self._fields["model"], "roles", fields, height, None)


class Heads(Shown):
    """What each head of a model does over many texts: heads()."""

    def to_pandas(self) -> Any:
        """A DataFrame, a row a head: its class, entropy (nats), mean weight on each pattern, importance."""
        words = [pattern["word"] for pattern in self.data["patterns"]]
        rows: list[dict[str, Any]] = []
        for head in self.data["heads"]:
            shares = dict(zip(words, head["shares"], strict=True))
            plain = {name: value for name, value in head.items() if name not in ("shares", "even", "share_rows")}
            rows.append({**plain, **{f"on_{word}": share for word, share in shares.items()}})
        return _pictures.frame(rows)

    def grid(self, measure: str = "evenness", site: str | None = None) -> list[list[float]]:
        """A number of each head, [layers][heads]; NaN where it was not measured. site is the first by default.

        Raises ValueError for a measure or a site that there is not.
        """
        sites = {one["site"]: one for one in self.data["sites"]}
        chosen = site if site is not None else next(iter(sites))
        if chosen not in sites:
            raise ValueError(f"grid: site: expected one of {', '.join(sites)}, got {chosen}")
        numbers = [name for name, value in self.data["heads"][0].items() if not isinstance(value, (str, list))]
        if measure not in numbers:
            raise ValueError(f"grid: measure: expected one of {', '.join(numbers)}, got {measure}")
        values = [[float("nan")] * sites[chosen]["heads"] for _ in range(sites[chosen]["layers"])]
        for head in self.data["heads"]:
            if head["site"] == chosen and head[measure] is not None:
                values[head["layer"]][head["head"]] = head[measure]
        return values

    def plot(self, measure: str = "evenness", site: str | None = None, ax: Any = None) -> Any:
        """grid() in cells. Gives matplotlib's axes."""
        values = self.grid(measure, site)
        ax = draw_map(ax, values, [str(n) for n in range(len(values))], [str(n) for n in range(len(values[0]))])
        ax.set(title=f"{self.data['title']}: {measure}", xlabel="head", ylabel="layer")
        return ax

    def __repr__(self) -> str:
        words = ", ".join(f"{one['layer']}.{one['head']} {one['word']}" for one in self.data["heads"][:8])
        more = ", …" if len(self.data["heads"]) > 8 else ""
        return f"qkv.insight.Heads({self.data['title']!r}, over {self.data['texts']}: {words}{more})"


class Change(Shown):
    """What a change inside a model does to what it says of one text: change()."""

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each token whose probability moved most; empty of a model that says no tokens."""
        rows: list[dict[str, Any]] = []
        for one in self.data.get("moved", []):
            row = {"token": one["token"], "piece": one["piece"]}
            for when in ("before", "after"):
                row.update({f"{name}_{when}": one[when][name] for name in ("logit", "probability", "rank")})
            rows.append(row)
        return _pictures.frame(rows)

    def plot(self, ax: Any = None) -> Any:
        """The probabilities before and after, of the tokens that moved most. Gives matplotlib's axes."""
        ax = ax if ax is not None else _pictures.new_axes()
        moved = self.data.get("moved", [])
        for n, when in enumerate(("before", "after")):
            places = [place + 0.4 * n for place in range(len(moved))]
            ax.bar(places, [one[when]["probability"] for one in moved], width=0.4, label=when)
        ax.set_xticks([place + 0.2 for place in range(len(moved))], [one["piece"] for one in moved])
        ax.set_ylabel("probability")
        ax.legend()
        return ax

    def __repr__(self) -> str:
        said = ""
        if self.data.get("answer"):
            answer = self.data["answer"]
            before, after = answer["before"]["probability"], answer["after"]["probability"]
            said = f": {answer['piece']!r} {before:.4f} to {after:.4f}"
        return f"qkv.insight.Change({self.data['model']!r}, {'; '.join(self.data['interventions'])}{said})"


class LossChange(Finding):
    """What a change inside a model does to its loss over many texts: change_texts()."""

    def to_pandas(self) -> Any:
        """A DataFrame with two rows, before and after: loss (nats) and accuracy."""
        loss, accuracy = self.data["loss"], self.data["accuracy"]
        return _pictures.frame(
            [{"when": when, "loss": loss[when], "accuracy": accuracy[when]} for when in ("before", "after")]
        )

    def plot(self, ax: Any = None) -> Any:
        """The loss before and after. Gives matplotlib's axes."""
        ax = ax if ax is not None else _pictures.new_axes()
        ax.bar(["before", "after"], [self.data["loss"]["before"], self.data["loss"]["after"]])
        ax.set_ylabel("loss (nats)")
        return ax

    def __repr__(self) -> str:
        loss, changes = self.data["loss"], "; ".join(self.data["interventions"])
        return (
            f"qkv.insight.LossChange({self.data['model']!r}, {changes}: "
            f"loss {loss['before']:.4f} to {loss['after']:.4f} over {self.data['texts']} texts)"
        )


class Sweep(Finding):
    """What each of many changes does, one at a time: sweep()."""

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each change: map, row, column, change."""
        return _pictures.frame(
            [
                {"map": one["name"], "row": row, "column": column, "change": change}
                for one in self.data["maps"]
                for row, changes in zip(one["rows"], one["changes"], strict=True)
                for column, change in zip(one["columns"], changes, strict=True)
            ]
        )

    def plot(self, map: int = 0, ax: Any = None) -> Any:
        """One of the maps in cells. Gives matplotlib's axes."""
        one = self.data["maps"][map]
        ax = draw_map(ax, one["changes"], one["rows"], one["columns"], cmap="RdBu")
        ax.set_title(f"{self.data['model']}, {one['name']}: change of the {self.data['measure']}")
        return ax

    def __repr__(self) -> str:
        maps = ", ".join(one["name"] for one in self.data["maps"])
        return f"qkv.insight.Sweep({self.data['model']!r}, {self.data['measure']} {self.data['before']:.4f}, of {maps})"


class Lens(Finding):
    """What a model would say after each layer, and what adds up to its answer: lens()."""

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each layer: logit, probability and rank of the answer."""
        names = ("layer", "logit", "probability", "rank")
        return _pictures.frame([{name: layer[name] for name in names} for layer in self.data["layers"]])

    def plot(self, ax: Any = None) -> Any:
        """The probability of the answer, layer by place. Gives matplotlib's axes."""
        layers = self.data["layers"]
        values = [layer["answer_probabilities"] for layer in layers]
        ax = draw_map(ax, values, [layer["layer"] for layer in layers], self.data["tokens"], vmin=0, vmax=1)
        ax.set(title=f"probability of {self.data['answer']!r}", xlabel="place", ylabel="layer")
        return ax

    def __repr__(self) -> str:
        layers = self.data["layers"]
        said = ", ".join(f"{layer['layer']} {layer['probability']:.4f}" for layer in layers)
        return f"qkv.insight.Lens({self.data['model']!r}, {self.data['answer']!r}: {said})"


class Rollout(Finding):
    """How attention passes down to the tokens of a text: rollout().

    maps are arrays float64 [T, T], of the first layer up; of flow one. Row i says where place i of that layer looks.
    """

    def __init__(self, tokens: list[str], maps: list[Float64Array], report: _models.Report) -> None:
        super().__init__(report)
        self.tokens = tokens
        self.maps = maps

    @property
    def table(self) -> str:
        """One line: there is no table of maps."""
        return repr(self)

    def to_pandas(self, layer: int = -1) -> Any:
        """A DataFrame of one layer's map, its tokens on both sides."""
        frame = _pictures.frame(self.maps[layer])
        return frame.set_axis(self.tokens).set_axis(self.tokens, axis=1)

    def plot(self, layer: int = -1, ax: Any = None) -> Any:
        """One layer's map in cells. Gives matplotlib's axes."""
        return draw_map(ax, self.maps[layer], self.tokens, self.tokens, vmin=0)

    def __repr__(self) -> str:
        return f"qkv.insight.Rollout(T={len(self.tokens)}, maps={len(self.maps)})"
