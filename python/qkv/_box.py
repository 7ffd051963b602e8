"""The models of the box, which lie in an installed package: the engine looks for them where QKV_MODELS says."""

import os
import pathlib

_models = pathlib.Path(__file__).parent / "share" / "qkv" / "models"
if _models.is_dir():
    os.environ.setdefault("QKV_MODELS", str(_models))
