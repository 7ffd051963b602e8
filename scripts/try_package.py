"""try_package.py: tries the package qkv that this interpreter has installed, and its command: numbers, a model of the
box, a picture with text, the studio's pages, and how long the import takes. Ends with 1 where something is not as it is to be.
"""

import gzip
import os
import pathlib
import re
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import urllib.request

COMMAND = pathlib.Path(sysconfig.get_path("scripts")) / "qkv"
IMPORTS = 7


def said(*arguments):
    run = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)
    if run.returncode != 0 or run.stderr:
        raise AssertionError(f"qkv {' '.join(arguments)} ended with {run.returncode}: {run.stderr}")
    return run.stdout


def import_takes():
    """Milliseconds in processes of their own, the interpreter's start left out."""
    script = "import time; start = time.perf_counter(); import qkv; print(1e3 * (time.perf_counter() - start))"
    found = [
        float(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout)
        for _ in range(IMPORTS)
    ]
    return f"{statistics.median(found):.0f} ms, the median of {IMPORTS}"


def attention_is_right():
    import numpy

    import qkv

    q, k, v = numpy.random.default_rng(0).standard_normal((3, 5, 4))
    scores = q @ k.T / 2
    weights = numpy.exp(scores - scores.max(axis=1, keepdims=True))
    expected = weights / weights.sum(axis=1, keepdims=True) @ v
    out = qkv.attention(q, k, v)
    assert numpy.abs(out - expected).max() < 1e-14, out - expected
    return f"{type(out).__name__} of NumPy {numpy.__version__}, targets {', '.join(qkv.targets())}"


def version_of_the_command():
    import qkv

    line = said("--version").strip()
    assert qkv.__version__ in line, line
    return line


def explain():
    text = said("explain", "The cat sat down", "--causal")
    assert "sat" in text
    return f"{len(text.splitlines())} lines"


def model_of_the_box():
    import qkv

    model = qkv.Model.open("induction")
    written = model.generate("abcxyzab", tokens=1).text
    assert written == "c", written
    assert "induction" in said("task", "--json")
    return f"{len(qkv.models())} models; induction goes on with {written!r}"


def picture_has_its_font():
    """Without fonts cairo draws letters of lines, not outlines."""
    import qkv

    svg = qkv.Model.open("induction").trace("abcxyzab", keep=["blocks.1.attn"])._repr_html_()
    letters = re.findall(r'<symbol[^>]*>\s*<path style="stroke:none;" d="([^"]+)"', svg)
    assert any("C " in letter for letter in letters), "no letter is an outline with curves"
    return f"{len(letters)} letters"


def page():
    import qkv

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "page.html"
        qkv.Model.open("induction").show("abcxyzab").save(str(path))
        assert path.read_bytes().startswith(b"<!doctype html")
        return f"{path.stat().st_size / 1e6:.1f} MB"


def studio():
    with subprocess.Popen([COMMAND, "view", "--no-open"], stdout=subprocess.PIPE, text=True) as process:
        try:
            url = process.stdout.readline().strip()
            request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
            with urllib.request.urlopen(request, timeout=30) as reply:
                document = gzip.decompress(reply.read())
                assert reply.status == 200 and b"<!doctype html" in document.lower(), document[:200]
        finally:
            process.terminate()
    return f"{len(document)} bytes from {url.split('//')[0]}//"


def main():
    os.chdir(tempfile.gettempdir())  # not where a folder qkv may lie
    failed = 0
    for trial in (
        import_takes,
        attention_is_right,
        version_of_the_command,
        explain,
        model_of_the_box,
        picture_has_its_font,
        page,
        studio,
    ):
        try:
            print(f"{trial.__name__.replace('_', ' ')}: {trial()}", flush=True)
        except Exception as error:
            failed += 1
            print(f"{trial.__name__.replace('_', ' ')}: FAILED: {type(error).__name__}: {error}", flush=True)
    sys.exit(failed > 0)


main()
