"""onnxruntime_model.py THREADS FOLDER ONNX TEXTS: torch_model.py's embed in f32, by ONNX Runtime."""

import pathlib
import sys

import numpy as np
import onnxruntime
import torch
import transformers
from torch_model import batches, in_order, mean_vectors, serve


def main():
    threads, folder, model, path = sys.argv[1:]
    torch.set_num_threads(int(threads))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(threads)
    session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])
    names = [read.name for read in session.get_inputs()]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    texts = pathlib.Path(path).read_text().splitlines()

    def vectors(inputs):
        read = [inputs[name] for name in ("input_ids", "attention_mask", "token_type_ids")]
        states = session.run(None, {name: np.asarray(array) for name, array in zip(names, read, strict=True)})[0]
        return mean_vectors(torch.from_numpy(states), inputs["attention_mask"])

    serve(lambda: in_order(texts, [(numbers, vectors(inputs)) for numbers, inputs in batches(tokenizer, texts)]))


main()
