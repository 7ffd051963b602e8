"""The table of cases from Python: its meaning against NumPy, its bits against C++."""

import ml_dtypes
import numpy
import pytest

import numpy_attention
import qkv
import qkv_cases_of_python as cases

ROWS = cases.rows()


def fields(row):
    return dict(field.split("=") for field in row.split())


def pairs(row):
    """Pairs of a query and a key, times the width: how long a row takes."""
    one = {name: int(fields(row).get(name, 1)) for name in ("B", "Hk", "group", "Tq", "Tk", "D")}
    return numpy.prod(list(one.values()))


def read(row):
    given = cases.inputs_of(row)
    if given["is_bf16"]:
        for name in ("q", "k", "v", "out"):
            given[name] = given[name].view(ml_dtypes.bfloat16)
    return given


def options_of(given):
    """Masks and biases as text, but where an array is too long for one."""
    options = {name: given[name] for name in ("scale", "softcap", "dropout", "sinks")}
    for name in ("mask", "bias"):
        text = given[f"{name}_text"]
        options[name] = given[name] if "<" in text else text
    return options


def bits(array):
    return numpy.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


@pytest.mark.parametrize("D", sorted({int(fields(row).get("D", 1)) for row in ROWS}))
def test_python_gives_the_bits_of_cpp(D):
    rows = [row for row in ROWS if int(fields(row).get("D", 1)) == D]
    assert rows
    for row in rows:
        given = read(row)
        options = options_of(given)
        out, lse = qkv.attention(given["q"], given["k"], given["v"], **options, return_lse=True)
        assert out.dtype == given["q"].dtype, row
        assert numpy.array_equal(bits(out), bits(given["out"])), row
        assert numpy.array_equal(bits(lse), bits(given["lse"])), row


def is_plain(row):
    """Rows whose numbers NumPy can follow: no infinities, no scores of 1e30, no NaN behind a mask."""
    one = fields(row)
    return one.get("values", "normal") in ("normal", "one_hot") and not {"specials", "poison"} & one.keys()


def test_numpy_says_the_same_in_float64():
    rows = [row for row in ROWS if is_plain(row) and pairs(row) < 2_000_000]
    assert len(rows) > 50
    for row in rows:
        given = read(row)
        inputs = [given[name].astype(numpy.float64) for name in ("q", "k", "v")]
        options = options_of(given)
        out, lse = qkv.attention(*inputs, **options, return_lse=True)
        expected = {**options, "mask": given["mask"], "bias": given["bias"]}
        dropout = expected.pop("dropout")
        factors = None if dropout is None else given["kept"] / (1 - dropout[0])
        expected_out, expected_lse = numpy_attention.attention(*inputs, **expected, factors=factors)
        # Sums of up to a few hundred terms in another order; scores of a large scale lose digits before the softmax.
        size = max(1.0, numpy.abs(expected_lse[numpy.isfinite(expected_lse)]).max(initial=0))
        numpy.testing.assert_allclose(out, expected_out, rtol=1e-11 * size, atol=1e-13 * size, err_msg=row)
        numpy.testing.assert_allclose(lse, expected_lse, rtol=1e-12, atol=1e-12 * size, err_msg=row)
