"""The blocks of docs/python.md run, one after the other."""

import pathlib
import re

DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


def test_the_blocks_run():
    blocks = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    names = {}
    for block in blocks:
        exec(compile(block, str(DOCUMENT), "exec"), names)  # noqa: S102
    assert names["out"].shape == (1, 8, 128, 32)
