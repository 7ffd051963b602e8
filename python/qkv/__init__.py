"""qkv: exact attention that shows its work. docs/python.md says how to use it."""

from qkv._qkv import (
    Bias,
    Error,
    GradientProbe,
    Mask,
    Probe,
    __version__,
    attention,
    attention_backward,
    attention_stage,
    set_threads,
    targets,
    threads,
)
from qkv._results import AttentionGradients, AttentionResult, CellMaps, RowStatistics, TopKeys

__all__ = [
    "AttentionGradients",
    "AttentionResult",
    "Bias",
    "CellMaps",
    "Error",
    "GradientProbe",
    "Mask",
    "Probe",
    "RowStatistics",
    "TopKeys",
    "__version__",
    "attention",
    "attention_backward",
    "attention_stage",
    "set_threads",
    "targets",
    "threads",
]
