#!/usr/bin/env python3
"""make_onnx_vectors.py FOLDER: writes the node tests of the operators that qkv has, as the onnx package makes them.

Each becomes FOLDER/<name>/model.onnx, a graph of one node, and FOLDER/<name>/test_data_set_0/{input,output}_<k>.pb. The
package's own program (backend-test-tools) would make those of all operators, in minutes.
"""
import importlib
import pathlib
import shutil
import sys

from onnx import TensorProto, numpy_helper
from onnx.backend.test.case import node

PROGRAMS = ("attention", "flexattention", "gelu", "layernormalization", "linear_attention", "logsoftmax",
            "rmsnormalization", "rotaryembedding", "softmax", "tensorscatter")


def write_values(folder, kind, values, declared):
    for k, value in enumerate(values):
        tensor = value if isinstance(value, TensorProto) else numpy_helper.from_array(value, declared[k].name)
        (folder / f"{kind}_{k}.pb").write_bytes(tensor.SerializeToString())


def write_case(folder, case):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    inputs, outputs = case.data_sets[0]
    write_values(data, "input", inputs, case.model.graph.input)
    write_values(data, "output", outputs, case.model.graph.output)


def main():
    folder = pathlib.Path(sys.argv[1])
    for program in PROGRAMS:
        importlib.import_module(f"{node.__name__}.{program}")
    # Beside each case stands the same with the operator spelled out in others, as a graph of many nodes.
    cases = [case for case in node._NodeTestCases if len(case.model.graph.node) == 1 and "_expanded" not in case.name]
    unfinished = folder.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    for case in cases:
        write_case(unfinished / case.name, case)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)
    print(f"{len(cases)} cases in {folder}")


main()
