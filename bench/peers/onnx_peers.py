"""ONNX Runtime's three attention operators, each as a model of one node. (Its contrib Attention multiplies by the
projection weights as well, so it is the standard's Attention that is timed.)"""

import time

import numpy as np
import onnx
import onnxruntime

NUMPY = {"f32": np.float32, "f16": np.float16}
ONNX = {"f32": onnx.TensorProto.FLOAT, "f16": onnx.TensorProto.FLOAT16}
CONTRIB = "com.microsoft"


class Refused(Exception):
    """The peer cannot do this shape or type; the text says why."""


def packed(x):
    """[B, H, T, D] as the contrib operators have it: [B, T, H * D]."""
    b, h, t, d = x.shape
    return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(b, t, h * d)


def unpacked(x, heads):
    b, t, width = x.shape
    return x.reshape(b, t, heads, width // heads).transpose(0, 2, 1, 3)


class OnnxPeer:
    """Inputs and outputs are bound once, so that a run neither copies nor allocates them."""

    def __init__(self, dtype, threads):
        self.dtype = dtype
        self.threads = threads

    def prepare(self, shape, inputs):
        self.shape = shape
        self.arrays = self.feed([x.astype(NUMPY[self.dtype]) for x in inputs])
        self.session = self._session()
        self.binding = self.session.io_binding()
        for name, array in self.arrays.items():
            self.binding.bind_ortvalue_input(name, array)
        for name, array in self.results().items():
            self.binding.bind_ortvalue_output(name, array)
            self.arrays["->" + name] = array

    def _session(self):
        names = [name for name in self.input_names() if not name or name in self.arrays]
        node = onnx.helper.make_node(self.operator, names, self.output_names(), domain=self.domain, **self.attributes())

        def value(name, array):
            kind = onnx.helper.np_dtype_to_tensor_dtype(array.numpy().dtype)
            return onnx.helper.make_tensor_value_info(name, kind, array.shape())

        results = [onnx.helper.make_tensor_value_info(name, ONNX[self.dtype], None) for name in self.output_names()]
        graph = onnx.helper.make_graph([node], "one", [value(*item) for item in self.arrays.items()], results)
        opsets = [onnx.helper.make_opsetid("", 23), onnx.helper.make_opsetid(CONTRIB, 1)]
        model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.add_session_config_entry("session.force_spinning_stop", "1")  # idle threads leave the others alone
        return onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])

    def value_of(self, array):
        return onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array))

    def input_names(self):
        return list(self.arrays)

    def seconds(self, repeats):
        start = time.perf_counter()
        for _ in range(repeats):
            self.session.run_with_iobinding(self.binding)
        return (time.perf_counter() - start) / repeats

    def close(self):
        self.session = self.binding = self.arrays = None


class Attention(OnnxPeer):
    name = "ONNX Runtime Attention"
    operator, domain = "Attention", ""

    def feed(self, inputs):
        values = dict(zip(("q", "k", "v"), map(self.value_of, inputs)))
        if self.shape.lengths:
            visible = self.shape.visible()[:, None, None]
            values["mask"] = self.value_of(np.broadcast_to(visible, (self.shape.b, 1, self.shape.tq, self.shape.tk)))
        return values

    def attributes(self):
        return {"is_causal": int(self.shape.causal)}

    def output_names(self):
        return ["out"]

    def results(self):
        s = self.shape
        return {"out": self.value_of(np.zeros((s.b, s.hq, s.tq, s.d), NUMPY[self.dtype]))}

    def out(self):
        return self.arrays["->out"].numpy().astype(np.float32)


class MultiHeadAttention(OnnxPeer):
    name = "ONNX Runtime MultiHeadAttention"
    operator, domain = "MultiHeadAttention", CONTRIB

    def feed(self, inputs):
        if self.shape.hq != self.shape.hk:
            raise Refused("has no grouped heads")
        values = dict(zip(("q", "k", "v"), (self.value_of(packed(x)) for x in inputs)))
        if self.shape.lengths:
            values["lengths"] = self.value_of(np.array(self.shape.lengths, np.int32))
        return values

    def input_names(self):
        return ["q", "k", "v", "", "lengths"]  # the fourth is a bias of the projections

    def attributes(self):
        return {"num_heads": self.shape.hq, "unidirectional": int(self.shape.causal)}

    def output_names(self):
        return ["out"]

    def results(self):
        s = self.shape
        return {"out": self.value_of(np.zeros((s.b, s.tq, s.hq * s.d), NUMPY[self.dtype]))}

    def out(self):
        return unpacked(self.arrays["->out"].numpy(), self.shape.hq).astype(np.float32)


class GroupQueryAttention(OnnxPeer):
    """With one query the cache holds all keys but the last, and is extended in place."""

    name = "ONNX Runtime GroupQueryAttention"
    operator, domain = "GroupQueryAttention", CONTRIB

    def feed(self, inputs):
        s = self.shape
        if s.lengths:
            raise Refused("takes padding at the ends of keys alone, under a causal mask")
        q, k, v = inputs
        new = s.tk - s.tq
        self.values = {
            "q": self.value_of(packed(q)),
            "k": self.value_of(packed(k[:, :, new:])),
            "v": self.value_of(packed(v[:, :, new:])),
            "past_k": self.cache(k[:, :, :new]),
            "past_v": self.cache(v[:, :, :new]),
            "seqlens_k": self.value_of(np.full(s.b, s.tk - 1, np.int32)),
            "total": self.value_of(np.array([s.tk], np.int32)),
        }
        return self.values

    def cache(self, past):
        whole = np.zeros((self.shape.b, self.shape.hk, self.shape.tk, self.shape.d), past.dtype)
        whole[:, :, : past.shape[2]] = past
        return self.value_of(whole)

    def attributes(self):
        return {"num_heads": self.shape.hq, "kv_num_heads": self.shape.hk, "causal": int(self.shape.causal)}

    def output_names(self):
        return ["out", "present_k", "present_v"]

    def results(self):
        s = self.shape
        out = self.value_of(np.zeros((s.b, s.tq, s.hq * s.d), NUMPY[self.dtype]))
        return {"out": out, "present_k": self.values["past_k"], "present_v": self.values["past_v"]}

    def out(self):
        return unpacked(self.arrays["->out"].numpy(), self.shape.hq).astype(np.float32)


def peers(threads):
    kinds = (Attention, MultiHeadAttention, GroupQueryAttention)
    return [kind(dtype, threads) for kind in kinds for dtype in ("f32", "f16")]
