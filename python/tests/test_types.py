"""pyright, strict, on the package, the blocks of docs/python.md, notebooks and typical uses; and docstrings."""

import importlib.util
import inspect
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import typing

import nbformat
import pytest

import qkv
import qkv._types

HERE = pathlib.Path(__file__).parent
PACKAGE = pathlib.Path(qkv.__file__).parent
DOCUMENT = HERE.parents[1] / "docs" / "python.md"
# How strictly: of matplotlib, and of functions that a cell writes without types, "strict" wants to know too much.
NOTEBOOKS = {
    "1-attention-step-by-step": "standard",
    "2-masks-and-biases": "standard",
    "3-probing-100000-tokens": "standard",
    "4-heads-of-a-model": "strict",
    "5-training": "strict",
    "6-replacing-pytorchs-attention": "standard",
    "7-the-math-of-attention": "standard",
    "8-attention-from-scratch": "standard",
}
HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_TRANSFORMERS = HAS_TORCH and importlib.util.find_spec("transformers") is not None


def known_notebooks():
    """Those whose libraries are here."""
    return [name for name in NOTEBOOKS if HAS_TRANSFORMERS or name != "6-replacing-pytorchs-attention"]


def blocks_of_the_document():
    """transformers leaves too much open to be held to anything."""
    blocks = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    read = [block for block in blocks if "transformers" not in block and (HAS_TORCH or "torch" not in block)]
    assert len(read) > 7
    return "\n".join(read)


def cells_of(path):
    cells = nbformat.read(path, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "code")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """(rule, line, message) of what pyright says, by the file's name."""
    if shutil.which("node") is None:
        pytest.skip("node, which pyright runs on, is not installed")
    project = tmp_path_factory.mktemp("types")
    package = shutil.copytree(PACKAGE, project / "qkv", ignore=shutil.ignore_patterns("*.so", "bin", "share"))
    if not HAS_TORCH:
        shutil.rmtree(package / "torch")
    (project / "document.py").write_text(blocks_of_the_document(), encoding="utf-8")
    for name in known_notebooks():
        cells = cells_of(HERE.parent / "notebooks" / f"{name}.ipynb")
        (project / f"{name}.py").write_text(
            f"# pyright: {NOTEBOOKS[name]}, reportUnusedExpression=false\n{cells}", encoding="utf-8"
        )
    for path in HERE.glob("typed_*.py"):
        if HAS_TORCH or "torch" not in path.name:
            shutil.copy(path, project)
    config = {
        "include": ["."],
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "reportMissingModuleSource": False,  # what is compiled is not copied
        "reportPrivateUsage": False,  # the package is one
        "reportUnnecessaryIsInstance": False,  # arguments are looked at, whatever their types promise
        "reportUnnecessaryComparison": False,
        "reportUnusedExpression": False,  # a cell ends with what it shows
    }
    (project / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--project", project, "--pythonpath", sys.executable]
    told = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=told, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert said["summary"]["filesAnalyzed"] > 20
    findings = {}
    for one in said["generalDiagnostics"]:
        place = pathlib.Path(one["file"])
        name = str(place.relative_to(project))
        line = one["range"]["start"]["line"]
        findings.setdefault(name, []).append((one.get("rule"), line, one["message"]))
    return findings


def test_what_is_right_is_clean(found):
    assert {name: said for name, said in found.items() if name != "typed_mistakes.py"} == {}


def test_what_is_wrong_is_found(found):
    lines = (HERE / "typed_mistakes.py").read_text(encoding="utf-8").splitlines()
    wrong = {n for n, line in enumerate(lines) if line.endswith("# wrong")}
    assert len(wrong) > 10
    assert {line for _, line, _ in found["typed_mistakes.py"]} == wrong


def arguments_of(signature):
    """The names of the arguments, with their defaults, of a line of a nanobind function."""
    plain = re.sub(r"\[[^][]*\]", "", re.sub(r"\[[^][]*\]", "", signature))
    words = plain[plain.index("(") + 1 : plain.rindex(")")].split(",")
    return [re.split("[:=]", word)[0].strip() for word in words if word.strip()]


@pytest.mark.parametrize("name", ["attention", "attention_backward", "attention_stage"])
def test_overloads_of_the_stub_take_what_the_function_takes(name):
    expected = arguments_of(getattr(qkv, name).__doc__.splitlines()[0].rpartition(" ->")[0])
    stub = (PACKAGE / "_qkv.pyi").read_text(encoding="utf-8")
    overloads = re.findall(rf"^def {name}\((.*?)\) -> [^\n]*:", stub, re.MULTILINE | re.DOTALL)
    assert len(overloads) >= 3
    assert all(arguments_of(f"({one})") == expected for one in overloads)


def public_things():
    """(name, object) of each public function, class, method and property."""
    modules = ["qkv", "qkv.insight", *(["qkv.torch"] if HAS_TORCH else [])]
    for module_name in modules:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, str) or inspect.ismodule(thing):
                continue
            yield f"{module_name}.{name}", thing
            if not inspect.isclass(thing) or issubclass(thing, BaseException):
                continue
            for member, value in vars(thing).items():
                inherited = issubclass(thing, tuple) and (member in thing._fields or hasattr(tuple, member))
                if not member.startswith("_") and not inherited and member not in ("_make", "_replace"):
                    yield f"{module_name}.{name}.{member}", inspect.getattr_static(thing, member, value)


def described(name, thing):
    text = thing.__func__.__doc__ if isinstance(thing, (staticmethod, classmethod)) else thing.__doc__
    lines = [line for line in (text or "").splitlines() if line.strip()]
    last = name.rpartition(".")[2]
    automatic = bool(lines) and (lines[0].startswith(f"{last}("))  # of nanobind, of a NamedTuple, of typing
    return lines[1:] if automatic else lines


def test_everything_public_says_what_it_is():
    things = dict(public_things())
    assert len(things) > 100
    assert [name for name, thing in things.items() if not described(name, thing)] == []


def test_targets_are_those_of_the_engine():
    listed = [target["name"] for target in qkv.ask("info")["targets"]]
    web = {"simd128"}  # WebAssembly has no Python
    assert set(typing.get_args(qkv._types.Target)) == set(listed) - web
