"""Every notebook runs, from its first cell to its last."""

import importlib.util
import pathlib
import re

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = pathlib.Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "python" / "notebooks").glob("*.ipynb"))
OTHERS = ("torch", "transformers")  # libraries that some notebooks are about

# The figures of the notebook "attention from scratch" beside PyTorch's, of tests/course/make_scratch_notebook.py.
SCRATCH = f"""
ours = {{
    "embedding": embedding, "positions": positions, "x": x, "scores": scores, "scaled": scaled_scores,
    "weights": attn_weights, "out": attn_output, "causal_weights": weights_masked,
    "head0_weights": head_weights[0], "head1_weights": head_weights[1],
    "multi_head_output": multi_head_output, "packed_weights": mha_weights, "packed_output": mha_output,
}}
for line in open({str(ROOT / "tests" / "course" / "scratch_notebook.txt")!r}):
    head, values = line.split(":")
    name, *extents = head.split()
    wanted = np.array(values.split(), dtype=float).reshape([int(extent) for extent in extents])
    np.testing.assert_allclose(ours.pop(name), wanted, rtol=1e-5, atol=1e-6, err_msg=name)
assert not ours, ours
"""
AFTERWARDS = {"8-attention-from-scratch": SCRATCH}  # a cell that the test adds


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 8
    assert set(AFTERWARDS) <= {path.stem for path in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs are not committed"
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    for name in OTHERS:
        if re.search(rf"^(import|from) {name}\b", code, re.MULTILINE) and importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    if path.stem in AFTERWARDS:
        notebook.cells.append(nbformat.v4.new_code_cell(AFTERWARDS[path.stem]))
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
