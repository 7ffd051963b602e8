"""An installed package finds the models that lie in it."""

import os
import pathlib
import shutil
import subprocess
import sys

import qkv

PACKAGE = pathlib.Path(qkv.__file__).parent


def test_a_package_finds_its_models(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "qkv", symlinks=True)
    if (libraries := PACKAGE.parent / "qkv.libs").is_dir():  # of a wheel
        shutil.copytree(libraries, tmp_path / "qkv.libs")
    box = tmp_path / "qkv" / "share" / "qkv" / "models"
    box.mkdir(parents=True, exist_ok=True)
    shutil.copy(qkv.Model.open("previous").path, box / "mine.safetensors")
    environment = {name: value for name, value in os.environ.items() if name != "QKV_MODELS"}
    done = subprocess.run(
        [sys.executable, "-c", "import qkv; print(qkv.Model.open('mine').path)"],
        env={**environment, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == str(box / "mine.safetensors"), done.stderr
