"""What a wheel is built of."""

import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).parents[2]


def test_every_part_of_the_package_is_built_into_the_wheel():
    written = (ROOT / "python/CMakeLists.txt").read_text()
    made = re.findall(r"(?:add_custom_target|nanobind_add_stub|nanobind_add_module)\((qkv_python\w*)", written)
    assert "qkv_python_fields_stub" in made
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]["build"]["targets"]
    assert set(made) <= set(built)
