"""What goes on inside a model: its heads over many texts, changes of what runs, the lens, rollout. docs/insight.md and
docs/interventions.md say what the numbers are.

`model` is a qkv.Model, or a name or path that Model.open() takes. Raises ValueError naming what is wrong of a question,
and qkv.Error for a model that cannot be opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from qkv import _models
from qkv._findings import Change, Finding, Heads, Lens, LossChange, Rollout, Sweep
from qkv._given import list_of, require_texts, texts_of

if TYPE_CHECKING:
    from qkv import Model

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


Look: TypeAlias = "tuple[str | None, int | None, str | None, str | None, str | None]"


def _look(
    function: str,
    text: str | None,
    example: int | None,
    query: str | None,
    token: str | None,
    against: str | None,
    from_text: str | None = None,
) -> Look:
    """A question of one text, as the engine has it."""
    require_texts(function, text=text, query=query, token=token, against=against, from_text=from_text)
    if example is not None and not hasattr(example, "__index__"):
        raise TypeError(f"{function}: example: expected a whole number or None, got {example!r}")
    return text, example, query, token, against


def _texts(function: str, texts: Sequence[str] | None) -> list[str] | None:
    if isinstance(texts, str):
        raise TypeError(f"{function}: texts: expected a list of texts, got one text")
    return None if texts is None else list_of(function, "texts", texts, "a list of texts")


def heads(
    model: Model | str,
    texts: Sequence[str] | None = None,
    *,
    count: int = 64,
    sites: Sequence[str] = (),
    importance: int = 16,
    seed: int = 0,
) -> Heads:
    """What each head does over texts, as `qkv analyze`: yours, or `count` held-out examples of the model's task.

    sites: "tokens", "source" and "cross", all that the model has by default. importance: texts by which the loss
    without each head is measured; 0: not. seed: of the random tokens that come twice.
    """
    engine, lines = _engine_model(model), _texts("heads", texts)
    report = _models.heads(engine, lines, count, list_of("heads", "sites", sites, "a list of texts"), importance, seed)
    return Heads(report, {"model": engine.name, "texts": None if lines is None else "\n".join(lines)})


def change(
    model: Model | str,
    text: str | None = None,
    changes: str | Sequence[str] = (),
    *,
    example: int | None = None,
    query: str | None = None,
    token: str | None = None,
    against: str | None = None,
    from_text: str | None = None,
    from_example: int | None = None,
) -> Change:
    """What changes inside the model do to its answer, as `qkv change`, of a text or a held-out example.

    changes are texts: "remove 1.0", "pattern 2.3=uniform", "cut 7:3", "patch blocks.1@5", "set 1.0=k:2,5:0.7",
    "freeze norms"; "patch" and "pattern …=text" take from from_text or from_example, which is as many tokens long.
    query: a token or its number, where it is looked at; token: the answer; against: what it is held against.
    """
    look = _look("change", text, example, query, token, against, from_text)
    engine, written = _engine_model(model), texts_of("change", "changes", changes)
    report = _models.change(engine, look, written, from_text, from_example)
    place = {"text": text, "example": example, "query": query, "token": token, "from_text": from_text}
    shown = {"model": engine.name, **place, "changes": "; ".join(written)} if from_example is None else None
    return Change(report, shown)


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


def sweep(
    model: Model | str,
    text: str | None = None,
    of: str = "heads",
    *,
    changes: str | Sequence[str] = (),
    example: int | None = None,
    query: str | None = None,
    token: str | None = None,
    against: str | None = None,
    from_text: str | None = None,
    from_example: int | None = None,
) -> Sweep:
    """Each head removed in turn, or (of="places") each state patched from from_text, as `qkv change --sweep`."""
    look = _look("sweep", text, example, query, token, against, from_text)
    written = texts_of("sweep", "changes", changes)
    return Sweep(_models.sweep(_engine_model(model), of, look, written, from_text, from_example))


def lens(
    model: Model | str,
    text: str | None = None,
    *,
    example: int | None = None,
    query: str | None = None,
    token: str | None = None,
    against: str | None = None,
) -> Lens:
    """What the model would say after each layer, and what each head and key adds to its answer, as `qkv lens`."""
    return Lens(_models.lens(_engine_model(model), _look("lens", text, example, query, token, against)))


def rollout(model: Model | str, text: str, *, way: str = "rollout") -> Rollout:
    """Attention rollout of a text, a map for each layer; way="flow": attention flow, one map, for some dozen tokens."""
    return Rollout(*_models.rollout(_engine_model(model), text, way))
