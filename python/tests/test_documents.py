"""The blocks of docs/python.md run, one after the other."""

import importlib.util
import pathlib
import re

import pytest

DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


OTHERS = ("torch", "transformers")  # libraries that some blocks are about


def missing_for(block):
    wanted = [name for name in OTHERS if re.search(rf"\b{name}\b", block)]
    return [name for name in wanted if importlib.util.find_spec(name) is None]


def test_the_blocks_run(subtests):
    blocks = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    names = {}
    for block in blocks:
        with subtests.test(block.splitlines()[0]):
            if missing := missing_for(block):
                pytest.skip(f"{missing[0]} is not installed")
            exec(compile(block, str(DOCUMENT), "exec"), names)  # noqa: S102
    assert names["out"].shape == (1, 8, 128, 32)
