"""Ctrl-C, threads, forks, and memory over many calls."""

import os
import signal
import subprocess
import sys
import threading

import numpy
import pytest

import qkv

SMALL = numpy.random.default_rng(0).standard_normal((1, 2, 40, 8)).astype(numpy.float32)
# Seconds on one core, as a reference in float64 is.
LONG = numpy.zeros((1, 8, 6000, 64))


def interrupted_after(call):
    """Runs the call with a Ctrl-C of a second thread on its way; True where it ended by that."""
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        call()
    except KeyboardInterrupt:
        return True
    return False


@pytest.mark.parametrize(
    "call",
    [
        lambda: qkv.attention(LONG, LONG, LONG),
        lambda: qkv.attention_backward(LONG, LONG, LONG, LONG, LONG, numpy.zeros(LONG.shape[:3])),
        lambda: qkv.Probe(LONG, LONG).map(8, 8),
    ],
    ids=["attention", "attention_backward", "Probe.map"],
)
def test_ctrl_c_ends_a_long_call_and_the_next_one_runs(call):
    assert interrupted_after(call)
    assert qkv.attention(SMALL, SMALL, SMALL).shape == SMALL.shape


def test_other_threads_run_during_a_call():
    ticks = []
    ended = threading.Event()

    def tick():
        while not ended.wait(0.001):
            ticks.append(1)

    ticking = threading.Thread(target=tick)
    ticking.start()
    before = len(ticks)
    x = LONG[:, :1, :2000]
    qkv.attention(x, x, x, target="reference")
    during = len(ticks) - before
    ended.set()
    ticking.join()
    assert during > 5


def test_many_threads_call_at_once():
    expected = qkv.attention(SMALL, SMALL, SMALL, mask="causal")
    answers = []

    def call():
        answers.extend(qkv.attention(SMALL, SMALL, SMALL, mask="causal") for _ in range(50))

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 400 and all(numpy.array_equal(answer, expected) for answer in answers)


def test_a_forked_process_computes_the_same():
    """As a worker of torch's DataLoader does, after the parent's pool of threads is there."""
    x = numpy.random.default_rng(0).standard_normal((2, 4, 300, 16)).astype(numpy.float32)
    expected = qkv.attention(x, x, x, threads=2)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, qkv.attention(x, x, x, threads=2).tobytes()[:4096])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    assert said == expected.tobytes()[:4096]


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def call_with_everything():
    out, lse = qkv.attention(SMALL, SMALL, SMALL, mask=MASK, bias="alibi", return_lse=True)
    qkv.attention_backward(out, SMALL, SMALL, SMALL, out, lse, mask=MASK, bias="alibi")
    qkv.Probe(SMALL, SMALL, lse, mask=MASK, bias="alibi").row(3)
    with pytest.raises(ValueError):
        qkv.attention(SMALL, SMALL[:, :1], SMALL)


MASK = numpy.tri(40, dtype=bool)


def test_ten_thousand_calls_leave_nothing():
    references = sys.getrefcount(SMALL)
    for _ in range(2500):  # what is kept for later, the sanitizers' too, is there then
        call_with_everything()
    before = resident_bytes()
    for _ in range(2500):
        call_with_everything()  # four calls
    assert resident_bytes() - before < 2**20  # 105 bytes a call; each reads 25 KB
    assert sys.getrefcount(SMALL) == references


def test_import_brings_no_other_library():
    script = (
        "import sys, qkv; print([m for m in ('numpy', 'torch', 'jax', 'matplotlib', 'IPython') if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert said == "[]\n"
