"""The command qkv, which lies in the package."""

import os
import pathlib
import sys

from qkv import _box as _box  # says where models and fonts lie


def main():
    program = pathlib.Path(__file__).parent / "bin" / "qkv"
    if not program.exists():
        sys.exit(f"qkv: this package was built without the command: {program} is not there")
    os.execv(program, ["qkv", *sys.argv[1:]])
