"""qkv: exact attention that shows its work. docs/python.md says how to use it."""

import importlib
from typing import TYPE_CHECKING, Any

from qkv._qkv import (
    Bias,
    Error,
    Generator,
    GradientProbe,
    Mask,
    Probe,
    __version__,
    attention,
    attention_backward,
    attention_stage,
    merge_attention,
    set_threads,
    targets,
    threads,
)
from qkv._results import AttentionGradients, AttentionResult, CellMaps, MatrixWindow, RowStatistics, TopKeys

if TYPE_CHECKING:
    from qkv import insight
    from qkv._asked import ask
    from qkv._model import Gap, Match, Model, Written, models
    from qkv._pictures import Page, Picture, heatmap
    from qkv._tokenizer import Token, Tokenizer
    from qkv._trace import Trace
    from qkv._train import Step, TrainingRun, tasks, train

# What is imported when it is asked for: it needs libraries that attention alone does not.
_LATER = {
    "Gap": "qkv._model",
    "Match": "qkv._model",
    "Model": "qkv._model",
    "Page": "qkv._pictures",
    "Picture": "qkv._pictures",
    "Step": "qkv._train",
    "Token": "qkv._tokenizer",
    "Tokenizer": "qkv._tokenizer",
    "Trace": "qkv._trace",
    "TrainingRun": "qkv._train",
    "Written": "qkv._model",
    "ask": "qkv._asked",
    "heatmap": "qkv._pictures",
    "models": "qkv._model",
    "tasks": "qkv._train",
    "train": "qkv._train",
}

__all__ = [
    "AttentionGradients",
    "AttentionResult",
    "Bias",
    "CellMaps",
    "Error",
    "Gap",
    "Generator",
    "GradientProbe",
    "Mask",
    "Match",
    "MatrixWindow",
    "Model",
    "Page",
    "Picture",
    "Probe",
    "RowStatistics",
    "Step",
    "Token",
    "Tokenizer",
    "TopKeys",
    "Trace",
    "TrainingRun",
    "Written",
    "__version__",
    "ask",
    "attention",
    "attention_backward",
    "attention_stage",
    "heatmap",
    "insight",
    "merge_attention",
    "models",
    "set_threads",
    "targets",
    "tasks",
    "threads",
    "train",
]


def __getattr__(name: str) -> Any:
    if name == "insight":
        return importlib.import_module("qkv.insight")
    if name not in _LATER:
        raise AttributeError(f"module 'qkv' has no attribute {name!r}")
    value = getattr(importlib.import_module(_LATER[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__} - {"Any", "TYPE_CHECKING", "importlib"})
