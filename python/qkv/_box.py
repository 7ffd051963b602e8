"""The models of the box and the fonts in an installed package: told to the engine in variables of its environment."""

import os
import pathlib

_share = pathlib.Path(__file__).parent / "share" / "qkv"
if (_share / "models").is_dir():
    os.environ.setdefault("QKV_MODELS", str(_share / "models"))
if (_share / "fonts").is_dir():
    # Names the fonts of the machine, too.
    os.environ.setdefault("FONTCONFIG_FILE", str(_share / "fonts" / "fonts.conf"))
