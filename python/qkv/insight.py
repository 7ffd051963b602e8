"""What goes on inside a model: its heads over many texts, changes of what runs, the lens, rollout. docs/insight.md and
docs/interventions.md say what the numbers are.

`model` is a qkv.Model, or a name or path that Model.open() takes. Raises ValueError naming what is wrong of a question,
and qkv.Error for a model that cannot be opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from qkv import _models
from qkv._asked import takes
from qkv._findings import Change, Finding, Heads, Lens, LossChange, Rollout, Sweep
from qkv._given import list_of, texts_of

if TYPE_CHECKING:
    from qkv import Model
    from qkv._fields import ChangeFields, HeadsFields, LensFields

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


def _engine_model(model: Model | str) -> _models.Model:
    if isinstance(model, str):
        return _models.Model.open(model)
    if not hasattr(model, "_model"):
        raise TypeError(f"insight: model: expected a qkv.Model, or a name or path, got {type(model).__name__}")
    return model._model


def _texts(function: str, texts: Sequence[str] | None) -> list[str] | None:
    if isinstance(texts, str):
        raise TypeError(f"{function}: texts: expected a list of texts, got one text")
    return None if texts is None else list_of(function, "texts", texts, "a list of texts")


@takes("heads")
def heads(model: Model | str, texts: Sequence[str] | None = None, **given: Unpack[HeadsFields]) -> Heads:
    """What each head does over texts, as `qkv analyze`: yours, or held-out examples of the model's task."""
    engine, lines = _engine_model(model), _texts("heads", texts)
    report = _models.heads(engine, lines, {**given})
    return Heads(report, {"model": engine.name, "texts": None if lines is None else "\n".join(lines)})


@takes("change")
def change(
    model: Model | str,
    text: str | None = None,
    changes: str | Sequence[str] = (),
    **given: Unpack[ChangeFields],
) -> Change:
    """What changes inside the model do to its answer, as `qkv change`, of a text or a held-out example.

    changes are texts: "remove 1.0", "pattern 2.3=uniform", "cut 7:3", "patch blocks.1@5", "set 1.0=k:2,5:0.7",
    "freeze norms"; "patch" and "pattern …=text" take from from_text or from_example.
    """
    engine, written = _engine_model(model), texts_of("change", "changes", changes)
    report = _models.change(engine, text, written, {**given})
    names = ("example", "query", "token", "from_text")
    place = {"text": text, **{name: given.get(name) for name in names}}
    is_shown = given.get("from_example") is None
    return Change(report, {"model": engine.name, **place, "changes": "; ".join(written)} if is_shown else None)


def change_texts(
    model: Model | str,
    texts: Sequence[str] | None = None,
    changes: str | Sequence[str] = (),
    *,
    count: int = 64,
) -> LossChange:
    """What changes do to the mean loss over texts: yours, or `count` held-out examples of the model's task."""
    written = texts_of("change_texts", "changes", changes)
    return LossChange(_models.change_texts(_engine_model(model), _texts("change_texts", texts), count, written))


@takes("change")
def sweep(
    model: Model | str,
    text: str | None = None,
    of: str = "heads",
    *,
    changes: str | Sequence[str] = (),
    **given: Unpack[ChangeFields],
) -> Sweep:
    """Each head removed in turn, or (of="places") each state patched from from_text, as `qkv change --sweep`."""
    written = texts_of("sweep", "changes", changes)
    return Sweep(_models.sweep(_engine_model(model), text, of, written, {**given}))


@takes("lens")
def lens(model: Model | str, text: str | None = None, **given: Unpack[LensFields]) -> Lens:
    """What the model would say after each layer, and what each head and key adds to its answer, as `qkv lens`."""
    return Lens(_models.lens(_engine_model(model), text, {**given}))


def rollout(model: Model | str, text: str, *, way: str = "rollout") -> Rollout:
    """Attention rollout of a text, a map for each layer; way="flow": attention flow, one map, for some dozen tokens."""
    return Rollout(*_models.rollout(_engine_model(model), text, way))
