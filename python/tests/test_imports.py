"""What an import brings along: read from python -X importtime, in a process of its own."""

import subprocess
import sys

import pytest


def imported(code: str) -> list[str]:
    """The modules that the code imports, in the order in which their imports end."""
    done = subprocess.run([sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return [line.rsplit("|", 1)[1].strip() for line in lines[1:]]  # the first line names the columns


def beyond(library: str, code: str) -> list[str]:
    """What the code imports after the library has been, the standard library left out."""
    names = imported(f"import {library}\n{code}")
    after = names[names.index(library) + 1 :]
    return [name for name in after if name.split(".")[0] not in sys.stdlib_module_names]


def test_qkv_brings_nothing_but_itself():
    others = {name.split(".")[0] for name in imported("import qkv")} - set(sys.stdlib_module_names) - {"qkv"}
    started = {name.split(".")[0] for name in imported("pass")}  # what the environment imports at the start
    assert others <= started


def test_qkv_brings_no_models():
    names = imported("import qkv")
    assert "qkv._qkv" in names
    assert "qkv._models" not in names
    assert "qkv._model" not in names


def test_qkv_torch_brings_nothing_beyond_torch():
    pytest.importorskip("torch", reason="torch is not installed")
    found = beyond("torch", "import qkv.torch")
    assert "qkv.torch._operator" in found
    # Above all not torch._dynamo, which takes as long as torch itself.
    assert [name for name in found if name.split(".")[0] != "qkv"] == []


def test_a_score_mod_of_tensors_needs_no_compiler():
    pytest.importorskip("torch", reason="torch is not installed")
    code = """
import qkv.torch
q = torch.ones(2, 3, requires_grad=True)
qkv.torch.attention(q, q, q, score_mod=lambda score, b, h, i, j: score - (i - j))
"""
    assert [name for name in beyond("torch", code) if name.startswith(("torch._dynamo", "sympy"))] == []


def test_qkv_brings_nothing_beyond_jax():
    pytest.importorskip("jax", reason="jax is not installed")
    assert [name for name in beyond("jax", "import qkv") if name.split(".")[0] != "qkv"] == []
