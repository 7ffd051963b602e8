"""Training: a model learns a task in a directory of its own."""

from __future__ import annotations

import functools
import os
import pathlib
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from qkv import _models, _pictures
from qkv._asked import ask, takes
from qkv._model import Model

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from qkv._fields import TrainFields


class Step(NamedTuple):
    """A step that is done; accuracy and held_out_loss where held-out examples were examined, else None."""

    step: int  # from 1
    loss: float  # the mean of its batches, before the step, in nats
    gradient_norm: float  # before clipping
    learning_rate: float
    tokens: int
    seconds: float  # of the run until then
    accuracy: float | None
    held_out_loss: float | None


class TrainingRun:
    """A run in its directory, of train() or of `qkv train`. Curves are arrays with a number for each step.

    report is what `qkv train --json` says at the end; empty of a run that is read from its directory. Raises qkv.Error
    where the log cannot be read, and ValueError where there is none.
    """

    def __init__(self, directory: str | os.PathLike[str], report: dict[str, Any] | None = None) -> None:
        self.directory = pathlib.Path(directory)
        self.report: dict[str, Any] = report or {}
        self._steps = [Step(*row) for row in _models.read_log(os.fspath(self.directory))]
        if not self._steps:
            raise ValueError(f"TrainingRun: directory: expected one with a log.jsonl of a run, got {self.directory}")

    def curve(self, name: str) -> NDArray[numpy.float64]:
        """A column of Step over all steps, float64 [steps]; NaN where a step has none."""
        import numpy

        if name not in Step._fields:
            raise ValueError(f"curve: name: expected one of {', '.join(Step._fields)}, got {name}")
        column = [getattr(step, name) for step in self._steps]
        return numpy.array([numpy.nan if one is None else one for one in column], dtype=numpy.float64)

    @property
    def steps(self) -> NDArray[numpy.float64]:
        """The numbers of the steps, from 1, float64 [steps]."""
        return self.curve("step")

    @property
    def loss(self) -> NDArray[numpy.float64]:
        """The mean loss of each step's batches, before the step, in nats, [steps]."""
        return self.curve("loss")

    @property
    def accuracy(self) -> NDArray[numpy.float64]:
        """On held-out examples; NaN at steps that were not examined."""
        return self.curve("accuracy")

    @functools.cached_property
    def model(self) -> Model:
        """The trained qkv.Model. Raises qkv.Error for a run that has not come to its end."""
        return self._opened(self.directory / "model.safetensors")

    @property
    def kept_steps(self) -> list[int]:
        """The steps of which keep_every kept a model."""
        return _models.kept_steps(os.fspath(self.directory))

    def model_at(self, step: int) -> Model:
        """The qkv.Model of a step of kept_steps. Raises ValueError for another."""
        if step not in self.kept_steps:
            raise ValueError(f"model_at: step: expected one of {self.kept_steps}, got {step}")
        return self._opened(_models.kept_model(os.fspath(self.directory), step))

    def _opened(self, path: str | os.PathLike[str]) -> Model:
        return Model.open(pathlib.Path(path).absolute())

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each Step."""
        return _pictures.frame([step._asdict() for step in self._steps])

    def plot(self, ax: Any = None) -> Any:
        """The loss, and that of held-out examples, over the steps. Gives matplotlib's axes."""
        import numpy

        ax = ax if ax is not None else _pictures.new_axes()
        ax.plot(self.steps, self.loss, label="loss")
        held_out = self.curve("held_out_loss")
        examined = ~numpy.isnan(held_out)
        if examined.any():
            ax.plot(self.steps[examined], held_out[examined], marker="o", label="held-out loss")
        ax.set_xlabel("step")
        ax.set_ylabel("nats")
        ax.legend()
        return ax

    def __len__(self) -> int:
        return len(self._steps)

    def __repr__(self) -> str:
        last = self._steps[-1]
        accuracy = [step.accuracy for step in self._steps if step.accuracy is not None]
        said = f", accuracy={accuracy[-1]:.4f}" if accuracy else ""
        return f"qkv.TrainingRun({os.fspath(self.directory)!r}, steps={len(self)}, loss={last.loss:.4f}{said})"

    def _repr_html_(self) -> str:
        return _pictures.shown(_models.loss_chart(os.fspath(self.directory)))


class _Bar:
    """tqdm's bar where tqdm is there and asked for; else nothing."""

    def __init__(self, task: str, shown: bool | None) -> None:
        self._task = task
        self._shown = shown
        self._bar: Any = None

    def begin(self, steps: int) -> None:
        if self._shown is False or (self._shown is None and "ipykernel" not in sys.modules and not sys.stderr.isatty()):
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that its bar is plain text where there are no widgets
                from tqdm.auto import tqdm
        except ImportError:
            return
        self._bar = tqdm(total=steps, desc=self._task, unit="step")

    def show(self, step: Step) -> None:
        if self._bar is None:
            return
        self._bar.update(step.step - self._bar.n)
        if step.accuracy is None:
            self._bar.set_postfix(loss=f"{step.loss:.4f}", refresh=False)
        else:
            self._bar.set_postfix(loss=f"{step.loss:.4f}", accuracy=f"{step.accuracy:.4f}", refresh=False)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def tasks() -> list[str]:
    """The names of the tasks of the box."""
    return [one["name"] for one in ask("task")["tasks"]]


@takes("train")
def train(
    task: str,
    data: str | os.PathLike[str] | None = None,
    *,
    directory: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool | None = None,
    callback: Callable[[Step], object] | None = None,
    **settings: Unpack[TrainFields],
) -> TrainingRun:
    """Trains a model on a task of tasks(), or on "text" or "pictures" of your own in `data`. Gives the TrainingRun.

    directory holds log, checkpoint, model and a picture of the losses (qkv-TASK by default). resume goes on from its
    checkpoint, bit for bit, with the settings of then. callback gets each Step. progress shows tqdm's bar where tqdm is
    there: True, False, or None, in a notebook or a terminal.

    settings are those of `qkv train`, each with the recipe of its task as default; `start` is a model to go on from.

    Ctrl-C, and what callback raises, end the run after a step, with a checkpoint, and are raised. Raises ValueError
    naming a setting whose value has no meaning, TypeError for one that there is not or of another type, and qkv.Error
    where a loss is not finite, or the directory cannot be written.
    """
    bar = _Bar(task, progress)
    places: list[str] = []

    def begun(steps: int, place: str) -> None:
        places.append(place)
        bar.begin(steps)

    def stepped(row: tuple[Any, ...]) -> None:
        step = Step(*row)
        bar.show(step)
        if callback is not None:
            callback(step)

    placed: dict[str, object] = {"task": task, "data": data, "out": directory, "resume": resume}
    try:
        report = _models.train(placed, {**settings}, begun, stepped)
    finally:
        bar.close()
    return TrainingRun(places[0], report)
