"""qkv.train against the command's run of the same settings."""

import json
import os
import pathlib
import signal
import subprocess
import threading

import matplotlib
import numpy
import pytest

import qkv

matplotlib.use("agg")
COMMAND = pathlib.Path(qkv.__file__).parent / "bin" / "qkv"
SETTINGS = {"steps": 6, "examine_every": 3, "examples": 16, "keep_every": 3}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return qkv.train("copy", directory=tmp_path_factory.mktemp("runs") / "copy", **SETTINGS)


def test_a_run_is_that_of_the_command(run, tmp_path):
    words = [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]
    done = subprocess.run(
        [COMMAND, "train", "copy", *words, "--out", str(tmp_path / "copy"), "--json"], check=True, capture_output=True
    )
    report = json.loads(done.stdout)
    for one in (report, copy := dict(run.report)):
        del one["seconds"]
    assert copy == report
    logged = [json.loads(line) for line in (tmp_path / "copy" / "log.jsonl").read_text().splitlines()]
    assert list(run.loss) == [step["loss"] for step in logged]
    assert list(run.steps) == [1, 2, 3, 4, 5, 6]


def test_curves_and_models_of_a_run(run):
    assert list(numpy.isnan(run.accuracy)) == [True, True, False, True, True, False]
    assert run.kept_steps == [0, 3, 6]
    last, kept = run.model.parameters(), run.model_at(6).parameters()
    first = run.model_at(0).parameters()
    assert all(numpy.array_equal(last[name], kept[name]) for name in last)
    assert any(not numpy.array_equal(last[name], first[name]) for name in last)
    with pytest.raises(ValueError, match=r"model_at: step: expected one of \[0, 3, 6\], got 4"):
        run.model_at(4)
    with pytest.raises(ValueError, match="curve: name: expected one of step, .*, got colour"):
        run.curve("colour")


def test_a_run_prints_and_plots(run):
    assert repr(run).startswith("qkv.TrainingRun(") and "steps=6" in repr(run) and "\n" not in repr(run)
    assert "<title>copy, encoder-decoder</title>" in run._repr_html_()
    assert list(run.to_pandas()["loss"]) == list(run.loss)
    assert len(run.plot().lines) == 2
    assert list(qkv.TrainingRun(run.directory).loss) == list(run.loss)


def test_a_callback_ends_a_run_which_then_goes_on_bit_for_bit(run, tmp_path):
    def stop(step):
        if step.step == 2:
            raise StopIteration("enough")

    place = tmp_path / "copy"
    with pytest.raises(StopIteration, match="enough"):
        qkv.train("copy", directory=place, callback=stop, **SETTINGS)
    assert len(qkv.TrainingRun(place)) == 2
    with pytest.raises(ValueError, match="train: directory: expected a directory without a checkpoint, or `resume`"):
        qkv.train("copy", directory=place)
    with pytest.raises(ValueError, match="train: dropout: expected"):  # before the directory is looked at
        qkv.train("copy", directory=place, dropout=2.0)
    with pytest.raises(
        ValueError, match="train: steps: expected it without `resume` \\(a run goes on with the settings it began"
    ):
        qkv.train("copy", directory=place, resume=True, steps=9)
    with pytest.raises(ValueError, match="train: task: expected copy, which .* holds, got sort"):
        qkv.train("sort", directory=place, resume=True)
    resumed = qkv.train("copy", directory=place, resume=True)
    assert list(resumed.loss) == list(run.loss)


def test_ctrl_c_ends_a_run_with_a_checkpoint(tmp_path):
    place = tmp_path / "copy"
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        qkv.train("copy", directory=place, steps=1_000_000)
    assert 0 < len(qkv.TrainingRun(place)) < 1_000_000
    assert (place / "checkpoint.safetensors").exists()


def test_the_choice_of_the_optimiser_counts(run, tmp_path):
    other = qkv.train("copy", directory=tmp_path / "sgd", optimizer="sgd", momentum=0.5, **SETTINGS)
    assert other.loss[0] == run.loss[0] and other.loss[5] != run.loss[5]


def test_tqdm_shows_the_steps(tmp_path, capsys):
    qkv.train("copy", directory=tmp_path / "copy", progress=True, **SETTINGS)
    assert "6/6" in capsys.readouterr().err


def test_what_is_wrong_is_said_before_anything_is_written(tmp_path):
    place = tmp_path / "copy"
    for settings, error, message in [
        ({"colour": 1}, TypeError, "train: there is no field colour"),
        ({"steps": "six"}, TypeError, "train: steps: expected a whole number from 1 to 1099511627776, got 'six'"),
        ({"optimizer": "lion"}, ValueError, 'train: optimizer: expected adamw or sgd, got "lion"'),
    ]:
        with pytest.raises(error, match=message):
            qkv.train("copy", directory=place, **settings)
    with pytest.raises(ValueError, match='train: task: expected one of .*, got "copies"'):
        qkv.train("copies", directory=place)
    with pytest.raises(ValueError, match="train: task: expected a model's: ask.* trains a tokenizer, got tokenizer"):
        qkv.train("tokenizer", "notes.txt", directory=place)
    assert not place.exists()
    with pytest.raises(ValueError, match="TrainingRun: directory: expected one with a log.jsonl"):
        qkv.TrainingRun(place)


def test_tasks_are_those_of_the_command():
    listed = subprocess.run([COMMAND, "task", "--json"], check=True, capture_output=True)
    names = json.loads(listed.stdout)
    assert qkv.tasks() == [task["name"] for task in names["tasks"]]
