"""What goes on inside a model: its heads over many texts, changes of what runs, the lens, rollout. docs/insight.md and
docs/interventions.md say what the numbers are.

`model` is a qkv.Model, or a name or path that Model.open() takes. Raises ValueError naming what is wrong of a question,
and qkv.Error for a model that cannot be opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Unpack

from qkv import _models
from qkv._asked import takes
from qkv._calls import said
from qkv._findings import Change, Finding, Heads, Lens, LossChange, Rollout, Sweep
from qkv._given import path_of, texts_of
from qkv._qkv import Error

if TYPE_CHECKING:
    from qkv import Model
    from qkv._fields import ChangeFields, ChangeTextsFields, HeadsFields, LensFields, SweepFields

__all__ = [
    "Change",
    "Finding",
    "Heads",
    "Lens",
    "LossChange",
    "Rollout",
    "Sweep",
    "change",
    "change_texts",
    "heads",
    "lens",
    "rollout",
    "sweep",
]


def _engine_model(function: str, model: Model | str, given: Mapping[str, object]) -> _models.Model:
    if isinstance(model, str):
        asked = given.get("dtype")
        dtype = "f32" if asked not in ("f64", "file") else str(asked)  # another one is the question's to refuse
        try:
            return _models.Model.open(path_of(function, "model", model), dtype)
        except Error as error:
            raise Error(f"{function}: model: {error}") from None
    if not hasattr(model, "_model"):
        raise TypeError(f"{function}: model: expected a qkv.Model, or a name or path, got {said(model)}")
    return model._model


def _texts(function: str, texts: str | Iterable[str] | None) -> list[str] | None:
    if texts is None:
        return None
    read = texts_of(function, "texts", texts)
    if not read:
        raise ValueError(f"{function}: texts: expected one or more, got none")
    return read


def _is_of_no_page(given: Mapping[str, object]) -> bool:
    """The page Roles takes texts as they are."""
    others = ("from_example", "picture", "sound", "pictures", "sounds", "chat", "system", "user", "messages")
    return any(given.get(name) is not None and given[name] is not False for name in others)


@takes("heads")
def heads(model: Model | str, texts: Sequence[str] | None = None, **given: Unpack[HeadsFields]) -> Heads:
    """What each head does over texts, as `qkv analyze`: yours, or held-out examples of the model's task."""
    engine, lines = _engine_model("heads", model, given), _texts("heads", texts)
    report = _models.heads(engine, {"model": engine.name, "texts": lines}, {**given})
    fields = {"model": engine.name, "texts": None if lines is None else "\n".join(lines)}
    return Heads(report, None if _is_of_no_page(given) else fields)


@takes("change")
def change(
    model: Model | str,
    text: str | None = None,
    changes: str | Sequence[str] | None = None,
    **given: Unpack[ChangeFields],
) -> Change:
    """What changes inside the model do to its answer, as `qkv change`, of a text or a held-out example.

    changes are texts: "remove 1.0", "pattern 2.3=uniform", "cut 7:3", "patch blocks.1@5", "set 1.0=k:2,5:0.7",
    "freeze norms"; "patch" and "pattern …=text" take from from_text or from_example.
    """
    engine = _engine_model("change", model, given)
    report = _models.change(engine, {"model": engine.name, "text": text, "changes": changes}, {**given})
    names = ("example", "query", "token", "from_text")
    place = {"text": text, **{name: given.get(name) for name in names}}
    if _is_of_no_page(given):
        return Change(report, None)
    written = "; ".join(report.data["interventions"])
    return Change(report, {"model": engine.name, **place, "changes": written})


@takes("change_texts")
def change_texts(
    model: Model | str,
    texts: Sequence[str] | None = None,
    changes: str | Sequence[str] | None = None,
    *,
    count: int | None = None,
    **given: Unpack[ChangeTextsFields],
) -> LossChange:
    """What changes do to the mean loss over texts: yours, or `count` held-out examples of the model's task, 64."""
    engine, lines = _engine_model("change_texts", model, given), _texts("change_texts", texts)
    examples = 64 if lines is None and count is None else count
    placed: dict[str, object] = {"model": engine.name, "texts": lines, "examples": examples, "changes": changes}
    return LossChange(_models.change_texts(engine, placed, {**given}))


@takes("sweep")
def sweep(
    model: Model | str,
    text: str | None = None,
    of: Literal["heads", "places"] = "heads",
    *,
    changes: str | Sequence[str] | None = None,
    **given: Unpack[SweepFields],
) -> Sweep:
    """Each head removed in turn, or (of="places") each state patched from from_text, as `qkv change --sweep`."""
    engine = _engine_model("sweep", model, given)
    placed: dict[str, object] = {"model": engine.name, "text": text, "sweep": of, "changes": changes}
    return Sweep(_models.sweep(engine, placed, {**given}))


@takes("lens")
def lens(model: Model | str, text: str | None = None, **given: Unpack[LensFields]) -> Lens:
    """What the model would say after each layer, and what each head and key adds to its answer, as `qkv lens`."""
    engine = _engine_model("lens", model, given)
    return Lens(_models.lens(engine, {"model": engine.name, "text": text}, {**given}))


def rollout(model: Model | str, text: str, *, way: str = "rollout") -> Rollout:
    """Attention rollout of a text, a map for each layer; way="flow": attention flow, one map, for some dozen tokens."""
    return Rollout(*_models.rollout(_engine_model("rollout", model, {}), text, way))
