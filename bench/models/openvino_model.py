"""openvino_model.py THREADS f32|bf16 FOLDER ONNX TEXTS: torch_model.py's embed, by OpenVINO."""

import pathlib
import sys

import openvino
import torch
import transformers
from torch_model import batches, in_order, mean_vectors, serve


def main():
    threads, dtype, folder, model, path = sys.argv[1:]
    torch.set_num_threads(int(threads))
    asked = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": dtype, "PERFORMANCE_HINT": "LATENCY"}
    compiled = openvino.Core().compile_model(model, "CPU", asked)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    texts = pathlib.Path(path).read_text().splitlines()

    def vectors(inputs):
        read = [inputs[name].numpy() for name in ("input_ids", "attention_mask", "token_type_ids")]
        return mean_vectors(torch.from_numpy(compiled(read)[0]), inputs["attention_mask"])

    serve(lambda: in_order(texts, [(numbers, vectors(inputs)) for numbers, inputs in batches(tokenizer, texts)]))


main()
