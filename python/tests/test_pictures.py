"""Pictures: heatmaps, masks and biases as SVG."""

import re

import numpy
import pytest

import qkv


def described(picture):
    return re.search(r"<desc>(.*?)</desc>", picture.svg).group(1)


def test_a_heatmap_says_what_it_holds():
    picture = qkv.heatmap(
        numpy.array([[0.25, -numpy.inf], [1.0, -0.5]]), rows=["a", "b"], columns=["c", "d"], title="S", value="score"
    )
    assert repr(picture) == "qkv.Picture('S')" and "<title>S</title>" in picture.svg
    assert "2 rows (query) by 2 columns (key), score from -1.00 to 1.00, 1 cells hidden" in described(picture)
    assert re.match(r'<svg style="width:\d+px;max-width:100%;height:auto" role="img"', picture._repr_html_())
    assert picture._repr_html_().endswith("</svg>\n")


def test_names_and_numbers_are_drawn():
    plain = qkv.heatmap(numpy.eye(2)).svg
    assert plain != qkv.heatmap(numpy.eye(2), rows=["a", "b"]).svg
    assert plain != qkv.heatmap(numpy.eye(2), columns=["a", "b"]).svg
    assert plain != qkv.heatmap(numpy.eye(2), decimals=1).svg


def test_several_maps_share_a_scale_and_have_titles(tmp_path):
    picture = qkv.heatmap(
        numpy.eye(3)[None].repeat(2, 0), titles=["one", "two"], axes=("token", "column"), low=0, high=2
    )
    for title in ("one", "two"):
        assert f"{title}: 3 rows (token) by 3 columns (column), value from 0.00 to 2.00" in described(picture)
    picture.save(str(tmp_path / "map.svg"))
    assert (tmp_path / "map.svg").read_text(encoding="utf-8") == picture.svg


def test_lists_and_bools_are_drawn():
    assert "from 0.00 to 2.00" in described(qkv.heatmap([[1, 2]]))
    assert "from 0 to 1" in described(qkv.heatmap(numpy.eye(2, dtype=bool), decimals=0))


def test_masks_and_biases_have_pictures():
    assert repr(qkv.Mask("causal & window(4)").picture(8, 8)) == "qkv.Picture('causal & window(4)')"
    assert "head 1: 4 rows" in described(qkv.Mask.causal().picture(4, 4, H=2))
    assert "batch entry 1: 4 rows (query) by 4 columns (key), visible from 0 to 1, 8 cells hidden" in described(
        qkv.Mask.keys([4, 2]).picture(4, 4, B=2)
    )
    assert "share of pairs kept" in described(qkv.Mask.causal().picture(4096, 4096))
    assert "head 1: 4 rows (query) by 4 columns (key), added to the score" in described(
        qkv.Bias.alibi().picture(4, 4, H=2)
    )


def test_a_probe_has_a_picture_with_names():
    x = numpy.eye(3, dtype=numpy.float32)
    probe = qkv.Probe(x, x, mask="causal")
    picture = probe.picture(rows=["a", "b", "c"], columns=["a", "b", "c"], title="layer 0")
    assert "<title>layer 0</title>" in picture.svg and "head 0: 3 rows (query) by 3 columns (key)" in described(picture)
    assert "3 cells hidden" in described(picture) and picture.svg != probe.picture(title="layer 0").svg
    with pytest.raises(ValueError, match="picture: columns: expected 3 names, got 2"):
        probe.picture(rows=["a", "b", "c"], columns=["a", "b"])


def test_what_a_mask_costs():
    assert qkv.Mask.causal().cost(128, 128) == 3 / 4
    assert qkv.Mask("strided(64)").cost(256, 256) == 1
    assert qkv.Mask("strided(64)").coverage(256, 256) == 1 / 64


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (numpy.zeros(3), {}, r"heatmap: values: expected \[rows, columns\] or \[maps, rows, columns\], got \[3\]"),
        (numpy.zeros((2, 2)), {"titles": ["a", "b"]}, "heatmap: titles: expected 1, one a map, got 2"),
        (numpy.zeros((2, 2)), {"rows": ["a"]}, "row"),
    ],
)
def test_what_a_heatmap_refuses(values, options, message):
    with pytest.raises(ValueError, match=message):
        qkv.heatmap(values, **options)


def gradient_probe():
    x = numpy.random.default_rng(0).standard_normal((2, 6, 4))
    out, lse = qkv.attention(x, x, x, mask="causal", return_lse=True)
    return qkv.GradientProbe(numpy.ones_like(out), x, x, x, out, lse, mask="causal")


def test_a_gradient_probe_shows_itself():
    probe = gradient_probe()
    assert "head 1: 6 rows (query) by 6 columns (key), size of gradients from" in probe._repr_html_()
    assert described(probe.picture(rows=list("abcdef"), title="dS")) == described(probe.picture())
    with pytest.raises(ValueError, match="picture: rows: expected 6 names, got 1"):
        probe.picture(rows=["a"])


def test_a_gradient_probe_plots():
    pytest.importorskip("matplotlib").use("agg")
    axes = gradient_probe().plot(h=1)
    assert axes.get_title() == "head 1" and axes.images[0].get_array().shape == (6, 6)
    assert axes.images[0].colorbar.ax.get_ylabel() == "mean size of gradients of a cell"


def test_what_a_probe_counts_becomes_tables():
    pytest.importorskip("pandas")
    x = numpy.eye(4, dtype=numpy.float32)
    probe = qkv.Probe(x, x, mask="causal")
    top = probe.top_keys(2).to_pandas()
    assert list(top.columns) == ["query", "rank", "key", "weight"] and len(top) == 8
    assert list(top["key"][6:]) == list(probe.top_keys(2).keys[3])
    rows = probe.statistics().to_pandas()
    assert list(rows["visible"]) == [1, 2, 3, 4] and list(rows["entropy"]) == list(probe.statistics().entropy)
    with pytest.raises(ValueError, match="mean: column: expected one of visible, .*, got 'entrop'"):
        probe.statistics().mean("entrop")


def test_completion_offers_what_the_package_has():
    offered = {name for name in dir(qkv) if not name.startswith("_")}
    assert {name for name in qkv.__all__ if not name.startswith("_")} <= offered
    assert not {"Any", "TYPE_CHECKING", "importlib"} & offered


def test_results_are_said_in_a_line():
    x = numpy.ones((2, 3, 4), numpy.float32)
    result = qkv.attention(x, x, x, return_lse=True)
    assert repr(result) == "qkv.AttentionResult(out=float32 [2, 3, 4], lse=float32 [2, 3])"
    gradients = qkv.attention_backward(x, x, x, x, *result, bias=x[:, :, :3], wants=["q", "bias"])
    assert repr(gradients) == (
        "qkv.AttentionGradients(d_q=float32 [2, 3, 4], d_k=None, d_v=None, d_bias=[float32 [2, 3, 3]], d_sinks=None)"
    )
    probe = qkv.Probe(x, x)
    assert repr(probe.map(3, 3)) == (
        "qkv.CellMaps(mean=float64 [2, 3, 3], largest=float64 [2, 3, 3], visible=float64 [2, 3, 3])"
    )
    assert repr(probe.top_keys(1)) == "qkv.TopKeys(keys=int64 [3, 1], weights=float32 [3, 1])"
    assert "\n" not in repr(probe.statistics())
    assert repr(qkv.Generator(7)) == "qkv.Generator(…)"
