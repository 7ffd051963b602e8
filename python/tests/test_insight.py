"""qkv.insight against what the command says of the same questions."""

import html
import json
import os
import pathlib
import signal
import subprocess
import threading

import matplotlib
import numpy
import pytest
from replies import in_json

import qkv
from qkv import insight

matplotlib.use("agg")
COMMAND = pathlib.Path(qkv.__file__).parent / "bin" / "qkv"
TEXT = "abcxyzb"


def said(*words):
    return json.loads(subprocess.run([COMMAND, *words, "--json"], check=True, capture_output=True).stdout)


def test_heads_are_those_of_analyze():
    heads = insight.heads("induction", count=4)
    assert in_json(heads.data) == said("analyze", "induction", "--count", "4")
    frame = heads.to_pandas()
    assert list(frame["word"]) == ["mixed", "induction"]
    assert frame["on_induction"][1] > 0.9
    assert heads.grid("entropy") == [[heads.data["heads"][0]["entropy"]], [heads.data["heads"][1]["entropy"]]]
    assert repr(heads).count("\n") == 0 and "1.0 induction" in repr(heads)
    assert "<svg" in heads._repr_html_() and heads.svg("tokens-classes") != heads.svg()


def test_heads_of_own_texts(tmp_path):
    texts = [TEXT, "abcdabcd"]
    (tmp_path / "texts.txt").write_text("\n".join(texts))
    heads = insight.heads("induction", texts, importance=0)
    of_command = said("analyze", "induction", "--file", str(tmp_path / "texts.txt"), "--importance", "0")
    assert heads.data["heads"] == of_command["heads"]
    one = insight.heads("induction", TEXT, importance=0)
    assert in_json(one.data) == said("analyze", "induction", "--line", TEXT, "--importance", "0")
    assert numpy.isnan(heads.grid("removal")).all()
    heads = insight.heads("translation", count=2, sites=["cross"], importance=0)
    assert [site["site"] for site in heads.data["sites"]] == ["cross"]


def test_heads_say_what_is_wrong():
    with pytest.raises(TypeError, match="heads: texts: expected a text or a list of texts, got int"):
        insight.heads("induction", 5)
    with pytest.raises(ValueError, match="heads: texts: expected one or more, got none"):
        insight.heads("induction", [])
    with pytest.raises(qkv.Error, match='no model "absent" in the box'):
        insight.heads("absent")
    heads = insight.heads("induction", count=2, importance=0)
    with pytest.raises(ValueError, match="grid: measure: expected one of .*entropy.*, got colour"):
        heads.grid("colour")
    with pytest.raises(ValueError, match="svg: name: expected one of tokens-grid"):
        heads.svg("colour")


def test_change_is_that_of_the_command():
    change = insight.change("induction", TEXT, "remove 1.0")
    assert change.data == said("change", "induction", TEXT, "--remove", "1.0")
    frame = change.to_pandas()
    assert frame["probability_before"][0] > 0.9 > 0.1 > frame["probability_after"][0]
    assert repr(change).startswith("qkv.insight.Change('induction', remove 1.0: 'c' 0.99")
    assert "<pre>" in change._repr_html_()


def test_changes_add_up_and_patch():
    change = insight.change("induction", TEXT, ["cut 6:2", "patch blocks.0@3"], from_text="abcqyzb", query="6")
    of_command = said(
        *("change", "induction", TEXT, "--cut", "6:2", "--patch", "blocks.0@3", "--from-text", "abcqyzb"),
        *("--query", "6"),
    )
    assert change.data["divergence"] == of_command["divergence"]
    with pytest.raises(ValueError, match="change: changes: expected a layer from 0 to 1, got 9"):
        insight.change("induction", TEXT, "remove 9.0")


def test_change_of_many_texts():
    change = insight.change_texts("induction", None, "remove 1.0", count=4)
    assert change.data == said("change", "induction", "--examples", "4", "--remove", "1.0")
    assert change.to_pandas()["loss"][1] > 1
    change = insight.change_texts("induction", [TEXT, "abcdabcd"], remove="1.0")
    assert change.data == said("change", "induction", "--line", TEXT, "--line", "abcdabcd", "--remove", "1.0")
    assert insight.change_texts("induction", changes="remove 1.0").data["texts"] == 64


def test_sweep_is_that_of_the_command():
    sweep = insight.sweep("induction", TEXT)
    assert sweep.data == said("change", "induction", TEXT, "--sweep", "heads")
    assert list(sweep.to_pandas()["change"]) == [change for row in sweep.data["maps"][0]["changes"] for change in row]
    places = insight.sweep("induction", TEXT, "places", from_text="abcxyza")
    of_command = said("change", "induction", TEXT, "--sweep", "places", "--from-text", "abcxyza")
    assert places.data["maps"] == of_command["maps"]


def test_lens_is_that_of_the_command():
    lens = insight.lens("induction", TEXT)
    assert lens.data == said("lens", "induction", TEXT)
    frame = lens.to_pandas()
    assert list(frame["layer"]) == ["input", "0", "1"] and frame["rank"][2] == 1
    shown = lens._repr_html_()
    assert "<svg" in shown and html.escape(lens.table) in shown


def test_rollout_passes_all_attention_down():
    rollout = insight.rollout("induction", TEXT)
    assert [one.shape for one in rollout.maps] == [(7, 7), (7, 7)] and rollout.tokens == list(TEXT)
    numpy.testing.assert_allclose(rollout.maps[1].sum(axis=1), 1, atol=1e-5)
    weights = qkv.Model.open("induction").trace(TEXT)["blocks.0.attn.weights"][0, 0]
    numpy.testing.assert_allclose(rollout.maps[0], (weights + numpy.eye(7)) / 2, atol=1e-6)
    assert insight.rollout("induction", TEXT, way="flow").maps[0].shape == (7, 7)
    with pytest.raises(ValueError, match='rollout: way: expected "rollout" or "flow", got up'):
        insight.rollout("induction", TEXT, way="up")


def test_everything_plots_on_axes_given_or_made():
    from matplotlib import pyplot

    model = qkv.Model.open("induction")
    findings = [
        insight.heads(model, count=2, importance=0),
        insight.change(model, TEXT, "remove 1.0"),
        insight.change_texts(model, None, "remove 1.0", count=2),
        insight.sweep(model, TEXT),
        insight.lens(model, TEXT),
        insight.rollout(model, TEXT),
    ]
    for finding in findings:
        _, ax = pyplot.subplots()
        assert finding.plot(ax=ax) is ax and ax.has_data()
        assert finding.plot() is not ax
        pyplot.close("all")


# Each takes many seconds.
LONG = {
    "call": lambda model: model("([{}])" * 4000),
    "trace": lambda model: model.trace("([{}])" * 4000, keep=["logits"]),
    "change": lambda model: insight.change(model, "([{}])" * 10_000, "remove 1.0"),
    "change_texts": lambda model: insight.change_texts(model, ["([{}])" * 100] * 1000, "remove 1.0"),
    "sweep": lambda model: insight.sweep(model, "([{}])" * 1000),
    "heads": lambda model: insight.heads(model, ["([{}])" * 100] * 1000),
    "lens": lambda model: insight.lens(model, "([{}])" * 4000),
    "rollout": lambda model: insight.rollout(model, "([{}])" * 250),
    "ask": lambda model: qkv.ask("analyze", model="brackets", count=100_000),
    "studio": lambda model: qkv.ask("analyze", model="brackets", count=1000, importance=1000),
    "flow": lambda model: insight.rollout(model, "([{}])" * 50, way="flow"),
}


@pytest.mark.parametrize("call", LONG.values(), ids=LONG.keys())
def test_ctrl_c_ends_what_takes_long_and_the_model_goes_on(call):
    model = qkv.Model.open("brackets")
    before = model("([{}])")
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call(model)
    finally:
        timer.cancel()
        timer.join()
    assert numpy.array_equal(model("([{}])"), before)
