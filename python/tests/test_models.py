"""Models, traces, tokenizers and how they print; numbers beside those that the command gives."""

import base64
import gc
import json
import os
import pathlib
import signal
import subprocess
import threading
import wave
import weakref

import matplotlib.image
import numpy as np
import pytest

import qkv
from qkv import insight

TEXT = "abcxyzab"


def command(*arguments):
    program = pathlib.Path(qkv.__file__).parent / "bin" / "qkv"
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def induction():
    return qkv.Model.open("induction")


@pytest.fixture(scope="module")
def gpt():
    return qkv.Model.open("gpt")


def softmax(scores):
    powers = np.exp(scores.astype(np.float64) - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def test_scores_are_those_of_the_lens(induction):
    lens = json.loads(command("lens", "induction", TEXT, "--json"))
    scores = induction(TEXT)
    assert scores.shape == (8, 27)
    answer = induction.tokenizer.id(lens["answer"])
    last = lens["layers"][-1]
    assert scores[lens["place"], answer] == pytest.approx(last["logit"], abs=1e-5)
    assert softmax(scores)[lens["place"], answer] == pytest.approx(last["probability"], abs=1e-6)


@pytest.mark.parametrize("name", ["addition", "copy", "english", "induction3", "shapes"])
def test_every_kind_reads_an_example(name):
    model = qkv.Model.open(name)
    model(example=2)  # a second pass has the weights laid out, whose products may be rounded otherwise
    trace = model.trace(example=2, keep="*logits")
    (logits,) = trace.names
    np.testing.assert_array_equal(trace[logits][0], model(example=2))


def test_ids_are_the_text(induction):
    np.testing.assert_array_equal(induction(ids=induction.tokenizer.encode(TEXT)), induction(TEXT))


BEYOND = [-1, -(2**32) + 5, 2**31, 2**32 + 97, 2**53 + 1, 10**30]  # some are small numbers modulo 2**32


@pytest.mark.parametrize("beyond", BEYOND)
def test_ids_beyond_the_vocabulary_are_refused_as_they_are(induction, beyond):
    tokenizer = induction.tokenizer
    arrays = [np.array([beyond])] if beyond < 2**63 else []
    for ids in ([beyond], *arrays):
        for call in (tokenizer.decode, lambda ids: induction.trace(ids=ids), lambda ids: induction(ids=ids)):
            with pytest.raises(ValueError, match=f": ids: expected .*, got {beyond}$"):
                call(ids)
    if beyond < 2**63:
        with pytest.raises(ValueError, match=f"shown: id: expected from 0 to {len(tokenizer) - 1}, got {beyond}$"):
            tokenizer.shown(beyond)


def test_what_is_no_id_is_refused(induction):
    for ids, error, message in [
        ([1.5], ValueError, "whole numbers, got 1.5"),
        (["a"], TypeError, "a list of numbers, got one that holds str"),
        ("ab", TypeError, "a list of numbers, got one that holds str"),
        (5, TypeError, "a list of numbers, got int"),
    ]:
        with pytest.raises(error, match=f"decode: ids: expected {message}"):
            induction.tokenizer.decode(ids)


@pytest.mark.parametrize("kind", [qkv.Model, qkv.Tokenizer])
def test_names_are_opened(kind):
    with pytest.raises(TypeError, match=rf"got 'gpt'; call qkv.{kind.__name__}.open\(name\)"):
        kind("gpt")


def test_an_answer_is_written_before_the_pass(induction):
    assert induction.trace(TEXT, answer=2).tokens == [*TEXT, "c", "x"]


def test_towers():
    towers = qkv.Model.open("towers")
    texts = ["top left a red circle above a blue square", "top left a blue square above a red circle"]
    images = np.random.default_rng(0).integers(0, 255, (2, 40, 40, 3), dtype=np.uint8)
    match = towers.match(list(images), texts)
    assert match.cosines.shape == (2, 2)
    vectors = [towers(image=image) for image in images]
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=-1), 1, atol=1e-6)
    np.testing.assert_allclose(vectors @ np.stack([towers(text) for text in texts]).T, match.cosines, atol=1e-5)
    with pytest.raises(ValueError, match="match"):
        towers(texts[0], image=images[0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, []),
        (
            {"temperature": 0.8, "top_k": 20, "top_p": 0.9, "min_p": 0.01, "seed": 3},
            ["--temperature", "0.8", "--top-k", "20", "--top-p", "0.9", "--min-p", "0.01", "--seed", "3"],
        ),
        ({"beams": 3, "length_penalty": 0.5}, ["--beams", "3", "--length-penalty", "0.5"]),
        ({"repetition_penalty": 1.5, "stop": "the"}, ["--repetition-penalty", "1.5", "--stop", "the"]),
    ],
)
def test_generate_writes_what_the_command_writes(gpt, options, words):
    said = json.loads(command("generate", "gpt", "The cat sat", "--tokens", "12", *words, "--json"))
    parts = []
    written = gpt.generate("The cat sat", tokens=12, on_text=parts.append, **options)
    assert written == (said["text"], said["tokens"], said["end"])
    assert "".join(parts) == written.text


def test_the_bounds_of_an_answer_are_those_of_the_command(gpt):
    with pytest.raises(ValueError, match="Model: answer: expected a whole number from 1 to 4096, got 1000000000"):
        gpt("The", answer=10**9)


def test_several_prompts(gpt):
    told = {0: "", 1: ""}
    written = gpt.generate(["The", "A cat sat"], tokens=3, on_text=lambda n, part: told.update({n: told[n] + part}))
    assert [one.text for one in written] == list(told.values())
    assert written[1] == gpt.generate("A cat sat", tokens=3)


def test_stream(gpt):
    assert "".join(gpt.stream("The cat sat", tokens=6)) == gpt.generate("The cat sat", tokens=6).text
    parts = gpt.stream("The cat sat", tokens=500)
    next(parts)
    parts.close()  # ends the writer, or this would take as long as 500 tokens
    with pytest.raises(ValueError, match="temperature"):
        list(gpt.stream("The", temperature=-1.0))


def test_what_a_listener_raises_ends_the_writing(gpt):
    def refuse(_):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        gpt.generate("The", on_text=refuse)


def test_embed(gpt):
    said = json.loads(command("embed", "gpt", "The cat sat"))["vector"]
    np.testing.assert_array_equal(gpt.embed("The cat sat"), np.asarray(said, np.float32))
    assert gpt.embed(["The cat", "sat"]).shape == (2, len(said))
    np.testing.assert_allclose(np.linalg.norm(gpt.embed("sat", normalise=True)), 1, atol=1e-6)


def write_tensors(path, tensors):
    """A safetensors file of f32."""
    header, data = {}, b""
    for name, value in tensors.items():
        raw = np.ascontiguousarray(value, np.float32).tobytes()
        header[name] = {"dtype": "F32", "shape": value.shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def sentence_transformer(folder):
    """A BERT of one layer and six words, as sentence-transformers saves one."""
    draw = np.random.default_rng(1)
    layer = "encoder.layer.0."
    maps = {f"{layer}attention.self.{name}": (4, 4) for name in ("query", "key", "value")}
    maps |= {
        f"{layer}attention.output.dense": (4, 4),
        f"{layer}intermediate.dense": (6, 4),
        f"{layer}output.dense": (4, 6),
    }
    norms = ["embeddings.LayerNorm", f"{layer}attention.output.LayerNorm", f"{layer}output.LayerNorm"]
    tables = {"word_embeddings": 6, "position_embeddings": 8, "token_type_embeddings": 2}
    tensors = {f"embeddings.{name}.weight": draw.normal(size=(rows, 4)) for name, rows in tables.items()}
    for name, shape in maps.items():
        tensors |= {f"{name}.weight": draw.normal(size=shape), f"{name}.bias": draw.normal(size=shape[:1])}
    for name in norms:
        tensors |= {f"{name}.weight": draw.normal(size=4), f"{name}.bias": draw.normal(size=4)}
    write_tensors(folder / "model.safetensors", tensors)
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\ncat\n")
    (folder / "1_Pooling").mkdir()
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    words = {"hidden_size": 4, "intermediate_size": 6, "num_hidden_layers": 1, "num_attention_heads": 2}
    files = {
        "config": {"model_type": "bert", "vocab_size": 6, "max_position_embeddings": 8, **words},
        "modules": [{"path": path, "type": "sentence_transformers.models." + kind} for path, kind in kinds.items()],
        "1_Pooling/config": {"pooling_mode": "weightedmean"},
        "config_sentence_transformers": {"prompts": {"query": "cat ", "text": "the "}, "default_prompt_name": "query"},
    }
    for name, said in files.items():
        (folder / f"{name}.json").write_text(json.dumps(said))
    return folder


def talking_llama(folder):
    """A llama of one layer and 32 pieces, with a chat template."""
    draw = np.random.default_rng(2)
    pieces = [*"abcdefghijklmnopqrstuvwxyz", "Ġ", "!", "?", ".", "<s>", "</s>"]
    layer = "model.layers.0."
    shapes = {f"{layer}self_attn.{name}_proj": (32, 32) for name in "qkvo"}
    shapes |= {f"{layer}mlp.{name}_proj": (64, 32) for name in ("gate", "up")}
    shapes |= {f"{layer}mlp.down_proj": (32, 64), "model.embed_tokens": (32, 32)}
    norms = [f"{layer}input_layernorm", f"{layer}post_attention_layernorm", "model.norm"]
    tensors = {f"{name}.weight": draw.normal(size=shape) for name, shape in shapes.items()}
    write_tensors(folder / "model.safetensors", tensors | {f"{name}.weight": np.ones(32) for name in norms})
    sizes = {"vocab_size": 32, "hidden_size": 32, "intermediate_size": 64, "max_position_embeddings": 64}
    counts = {"num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2}
    bpe = {"type": "BPE", "vocab": {piece: n for n, piece in enumerate(pieces)}, "merges": []}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    files = {
        "config": {"model_type": "llama", "rms_norm_eps": 1e-5, "tie_word_embeddings": True, **sizes, **counts},
        "tokenizer": {"model": bpe, "pre_tokenizer": level, "decoder": level},
        "tokenizer_config": {"chat_template": "{% for m in messages %}{{ m['content'] }}{% endfor %}"},
    }
    for name, said in files.items():
        (folder / f"{name}.json").write_text(json.dumps(said))
    return folder


def test_a_conversation_is_looked_at(tmp_path):
    talking_llama(tmp_path)
    lens = qkv.ask("lens", model=tmp_path, chat=True, user="abc")
    assert lens["sources"] == ["user"] * 3
    assert lens["tokens"] == qkv.ask("heads", model=tmp_path, chat=True, text="abc")["sites"][0]["keys"]
    tokens = qkv.ask("tokens", tokenizer=tmp_path, chat=True, text="abc", system="x")
    assert (tokens["sources"], tokens["rendered"]) == (["system", "user", "user", "user"], "xabc")


def test_a_picture_may_be_bytes_or_an_array(tmp_path):
    file = tmp_path / "p.png"
    pixels = np.random.default_rng(1).integers(0, 256, (48, 48, 3), dtype=np.uint8)
    matplotlib.image.imsave(file, pixels)
    of_file = qkv.ask("probe", model="shapes", picture=file, stats=True)
    for picture in (file.read_bytes(), pixels, pixels.tolist()):
        assert qkv.ask("probe", model="shapes", picture=picture, stats=True)["means"] == of_file["means"]
    with pytest.raises(ValueError, match="picture: expected a file|picture: expected numbers"):
        qkv.ask("probe", model="shapes", picture=[[1, 2]], stats=True)
    lens = str(insight.lens("shapes", picture=file))
    for picture in (file.read_bytes(), pixels, pixels.tolist()):
        assert str(insight.lens("shapes", picture=picture)) == lens


def test_bytes_are_read_as_what_the_field_is_of(tmp_path):
    with wave.open(str(tmp_path / "s.wav"), "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", ""))
        file.writeframes(bytes(3200))
    for given in (tmp_path / "s.wav", (tmp_path / "s.wav").read_bytes(), np.zeros(1600, np.float32)):
        with pytest.raises(ValueError, match="^lens: sound: expected .*: this model reads no sound, got a sound$"):
            qkv.ask("lens", model="shapes", sound=given)
    for field, kind in [("picture", "image/png: expected a PNG file"), ("sound", "audio/wav: expected a WAV file")]:
        for given in (b"", b"neither"):
            with pytest.raises(qkv.Error, match=f"^lens: {field}: data:{kind}"):
                qkv.ask("lens", model="shapes", **{field: given})
            with pytest.raises(qkv.Error, match=f"^change: {field}: data:{kind}"):
                insight.change("shapes", changes="remove 0.0", **{field: given})
    for field in ("text", "user", "head"):
        with pytest.raises(TypeError, match=f"^probe: {field}: expected .*, got b'no text'$"):
            qkv.ask("probe", model="shapes", **{field: b"no text"})
    with pytest.raises(TypeError, match="^analyze: texts: expected a list of texts, got b'no text' at 0$"):
        qkv.ask("analyze", model="induction", texts=[b"no text"])
    with pytest.raises(TypeError, match="^analyze: pictures: expected a list of texts, got 1 at 0$"):
        qkv.ask("analyze", model="shapes", pictures=[1])


def test_a_conversation_is_answered(tmp_path):
    model = qkv.Model.open(talking_llama(tmp_path))
    (said,) = qkv.ask("generate", model=tmp_path, chat=True, user="abc", tokens=5)
    parts = []
    written = model.generate(chat=True, user="abc", tokens=5, on_text=parts.append)
    assert written == (said["text"], said["tokens"], said["end"])
    assert "".join(parts) == written.text == "".join(model.stream(chat=True, user="abc", tokens=5))
    with pytest.raises(ValueError, match="generate: prompt, chat: expected one of them, got both"):
        model.generate("abc", chat=True, user="abc")
    with pytest.raises(ValueError, match="generate: prompt, chat, sound: expected one of them, got none"):
        model.generate()


@pytest.mark.parametrize("dtype", [None, "f32"])
def test_quantised_weights_are_taken_as_the_question_takes_them(dtype, tmp_path):
    place = tmp_path / "llama"
    place.mkdir()
    qkv.ask("convert", model=talking_llama(place), out=tmp_path / "llama.gguf", type="q4_0")
    model = qkv.Model.open(tmp_path / "llama.gguf")
    (said,) = qkv.ask("generate", model=tmp_path / "llama.gguf", text="abc", tokens=50, dtype=dtype)
    assert ("Q4_0" in said.get("weights", "")) == (dtype is None)
    assert model.generate("abc", tokens=50, dtype=dtype).tokens == said["tokens"]
    assert {one.dtype.name for one in model.parameters().values()} == {"float32"}


def test_embed_obeys_the_files_of_a_sentence_transformer(tmp_path):
    model = qkv.Model.open(sentence_transformer(tmp_path))
    plain = model.embed("the cat", prompt="")
    assert np.linalg.norm(plain) == pytest.approx(1, abs=1e-6)
    whole = model.embed("the cat", prompt="", normalise=False)
    assert np.linalg.norm(whole) != pytest.approx(1, abs=1e-3)
    with pytest.warns(UserWarning, match='default prompt "cat " stands before each text'):
        np.testing.assert_array_equal(model.embed("the cat"), model.embed("the cat", prompt_name="query"))
    np.testing.assert_array_equal(model.embed("cat", prompt_name="text"), plain)
    both = model.embed("the cat", prompt="", normalise=False, pooling=["first", "weightedmean"])
    np.testing.assert_array_equal(both[4:], whole)
    with pytest.warns(UserWarning, match="1 of 2 texts are longer than its max_seq_length of 8 tokens: the rest"):
        model.embed(["the", "the " * 20], prompt="")
    with pytest.raises(ValueError, match="prompt_name: expected one of document, query, text"):
        model.embed("the", prompt_name="title")
    with pytest.raises(ValueError, match="pooling: expected one of mean, first"):
        model.embed("the", prompt="", pooling="median")


def test_fill():
    text = "the cats that the girl sees <be> small"
    said = json.loads(command("fill", "english", text, "--json"))["masks"]
    (gap,) = qkv.Model.open("english").fill(text)
    assert gap.place == said[0]["place"]
    assert gap.fillings == [(one["piece"], one["probability"]) for one in said[0]["fillings"]]


def test_tokens_have_their_places(gpt):
    text = "The cät 猫!"
    tokens = gpt.tokenizer.tokens(text)
    assert [token.id for token in tokens] == gpt.tokenizer.encode(text)
    assert gpt.tokenizer.decode(gpt.tokenizer.encode(text)) == text
    assert tokens[0].begin == 0
    assert tokens[-1].end == len(text)
    assert all(before.begin <= after.begin for before, after in zip(tokens, tokens[1:], strict=False))
    assert {place for token in tokens for place in range(token.begin, token.end)} == set(range(len(text)))
    with pytest.raises(ValueError, match="id"):
        gpt.tokenizer.decode([10**6])


def test_a_trace_has_what_ran(induction):
    trace = induction.trace(TEXT, keep=["blocks.*.attn.*", "logits"])
    assert trace.attentions == ["blocks.0.attn", "blocks.1.attn"]
    assert "blocks.0.attn.q" in trace
    assert "blocks.0.resid_post" not in trace
    assert trace.tokens == list(TEXT)
    q, k, v = (trace[f"blocks.1.attn.{name}"] for name in "qkv")
    weights = trace["blocks.1.attn.weights"]
    np.testing.assert_allclose(weights, qkv.attention_stage("weights", q, k, mask="causal"), atol=1e-5)
    np.testing.assert_allclose(trace["blocks.1.attn.heads"], weights @ v, atol=1e-5)
    with pytest.raises(ValueError, match=r"blocks\.7"):
        trace["blocks.7"]


def test_a_probe_outlives_its_trace(induction):
    weights = induction.trace(TEXT)["blocks.1.attn.weights"]
    probe = induction.trace(TEXT).probe("blocks.1.attn")
    assert isinstance(probe, qkv.Probe)
    np.testing.assert_allclose(probe.weights(), weights[0, 0], atol=1e-6)
    np.testing.assert_allclose(probe.of_queries((4, 8)).weights(), weights[0, 0, 4:], atol=1e-6)


def test_an_edit_is_the_removal_of_the_command(induction):
    said = json.loads(command("change", "induction", TEXT, "--remove", "1.0", "--json"))
    trace = induction.trace(TEXT, keep="logits", edit={"blocks.1.attn.heads": np.zeros_like})
    answer = induction.tokenizer.id(said["answer"]["piece"])
    assert trace["logits"][0, said["place"], answer] == pytest.approx(said["answer"]["after"]["logit"], abs=1e-5)


def test_an_edit_may_write_into_its_array(induction):
    def silence(value):
        value[:] = 0
        return value

    edited = induction.trace(TEXT, edit={"blocks.1.attn.heads": silence})
    assert not edited["blocks.1.attn.heads"].any()
    assert induction.trace(TEXT)["blocks.1.attn.heads"].any()


def test_an_edit_of_one_head():
    model = qkv.Model.open("translation")
    text = "some umbrellas are heavy"
    name = "encoder.blocks.0.attn.weights"
    shapes = []

    def even(weights):
        shapes.append(weights.shape)
        return np.full_like(weights, 1 / weights.shape[-1])

    plain = model.trace(text)["encoder.blocks.0.attn.heads"]
    edited = model.trace(text, edit={(name, (1,)): even})["encoder.blocks.0.attn.heads"]
    assert len(shapes) == 1
    assert shapes[0][:2] == (1, 1)
    np.testing.assert_allclose(edited[0, 0], plain[0, 0], atol=1e-6)
    assert not np.allclose(edited[0, 1], plain[0, 1])
    with pytest.raises(ValueError, match="matrix"):
        model.trace(text, edit={("encoder.blocks.0.attn.heads", (1,)): even})


def test_errors_of_edits(induction):
    def broken(_):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        induction.trace(TEXT, edit={"blocks.0": broken})
    with pytest.raises(ValueError, match=r"blocks\.0: expected f32 \[1, 8, 64\], got f32 \[8, 64\]"):
        induction.trace(TEXT, edit={"blocks.0": lambda value: value[0]})
    with pytest.raises(TypeError, match="to give an array, got None"):
        induction.trace(TEXT, edit={"blocks.0": lambda value: None})
    with pytest.raises(TypeError, match="expected a function, got int"):
        induction.trace(TEXT, edit={"blocks.0": 3})
    with pytest.raises(ValueError, match="met none"):
        induction.trace(TEXT, edit={"blocks.9": np.zeros_like})


def test_errors_of_reading(induction):
    with pytest.raises(ValueError, match="one of text, ids and example, or an image, got none"):
        induction()
    with pytest.raises(ValueError, match="got several"):
        induction(TEXT, example=1)
    with pytest.raises(ValueError, match="text"):
        induction("Ü")
    with pytest.raises(qkv.Error, match='no model "induktion"'):
        qkv.Model.open("induktion")


def test_opening_names_its_argument():
    for given, said in ((3, "3"), (None, "None"), (b"gpt", "b'gpt'"), ([1, 2], r"\[1, 2\]")):
        for kind, argument in ((qkv.Model, "name"), (qkv.Tokenizer, "path")):
            with pytest.raises(TypeError, match=f"^open: {argument}: expected a name or path, got {said}$"):
                kind.open(given)
    with pytest.raises(ValueError, match='^open: name: expected a value, got ""$'):
        qkv.Model.open("")
    with pytest.raises(qkv.Error, match='^lens: model: no model "nope"'):
        insight.lens("nope", "a")
    with pytest.raises(TypeError, match=r"^heads: model: expected a qkv.Model, or a name or path, got 3$"):
        insight.heads(3)


def test_models_of_the_box():
    assert "induction" in qkv.models()
    model = qkv.Model.open("copy")
    assert (model.kind, model.task) == ("encoder-decoder", "copy")
    assert model.parameter_count == sum(value.size for value in model.parameters().values())


def test_repr(induction):
    assert repr(induction) == "qkv.Model('induction': decoder, 54,336 parameters, task 'induction')"
    trace = induction.trace(TEXT, keep="*.attn")
    assert repr(trace) == "qkv.Trace('induction': 8 tokens, 2 values, 2 attentions)"
    assert repr(induction.tokenizer) == "qkv.Tokenizer(27 pieces)"


def test_html(induction):
    trace = induction.trace(TEXT, keep="*.attn")
    assert trace._repr_html_().count("<svg") == 2
    assert "blocks.1.attn" in trace._repr_html_()
    assert trace.probe("blocks.1.attn")._repr_html_().count("<svg") == 1
    assert "54,336" in induction._repr_html_()
    long = qkv.Probe(*np.random.default_rng(0).standard_normal((2, 1, 20, 100, 8), dtype=np.float32))
    assert "the first 16 of 20 heads" in long._repr_html_()


def test_pages(induction):
    try:
        page = induction.trace(TEXT).show()
    except qkv.Error as error:
        if "pages" in str(error):
            pytest.skip(str(error))
        raise
    assert page.document.lower().startswith("<!doctype html>")
    assert "abcxyzab" in page.document
    frame = page._repr_html_()
    assert frame.count("<iframe") == 1
    assert base64.b64encode(page.document.encode()).decode() in frame
    with pytest.raises(qkv.Error, match="edits"):
        induction.trace(TEXT, edit={"blocks.0": lambda value: value}).show()
    with pytest.raises(qkv.Error, match="neither"):
        induction.trace(ids=[1, 2, 3]).show()


def test_plot(induction):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    trace = induction.trace(TEXT, keep="*.attn")
    _, ax = pyplot.subplots()
    assert trace.plot("blocks.1.attn", ax=ax) is ax
    np.testing.assert_array_equal(ax.images[0].get_array(), trace.probe("blocks.1.attn").weights())
    assert [label.get_text() for label in ax.get_xticklabels()] == list(TEXT)
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {0}
    long = qkv.Model.open("gpt").trace("The cat sat on the mat because it was tired", keep="*.attn").plot()
    assert {label.get_rotation() for label in long.get_xticklabels()} == {90}
    assert trace.plot("blocks.1.attn.weights").get_title() == "blocks.1.attn, head 0"
    assert trace.probe("blocks.0.attn").plot().images
    pyplot.close("all")


def test_rows_and_columns_have_their_texts():
    trace = qkv.Model.open("copy").trace(example=1)  # seven tokens, and seven of the source
    for name, rows, columns in [
        ("encoder.blocks.0.attn", trace.source, trace.source),
        ("decoder.blocks.0.attn", trace.tokens, trace.tokens),
        ("decoder.blocks.0.cross", trace.tokens, trace.source),
    ]:
        assert trace._labels(name) == (rows, columns)


@pytest.mark.parametrize("keep", ["blocks.7.attn.q", "*.wieghts", ["logits", "foo*"]])
def test_a_pattern_that_meets_nothing_is_refused(induction, keep):
    with pytest.raises(ValueError, match="trace: keep: expected a pattern of a value that the pass computes, got"):
        induction.trace(TEXT, keep=keep)


def test_a_text_is_one_str(induction):
    for call in (induction, induction.trace):
        with pytest.raises(TypeError, match="Model: text: expected a str, got list"):
            call([TEXT, TEXT])


def test_a_pattern_of_a_matrix_keeps_its_attention(induction):
    trace = induction.trace(TEXT, keep="*.1.attn.weights")
    assert trace.attentions == ["blocks.1.attn"]
    assert trace.names == []


def test_to_pandas(induction):
    pytest.importorskip("pandas")
    frame = induction.trace(TEXT, keep=["logits", "blocks.0"]).to_pandas()
    assert list(frame["name"]) == ["blocks.0", "logits"]
    assert frame["shape"][1] == (1, 8, 27)


def test_ctrl_c_ends_writing(gpt):
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            gpt.generate("The cat", tokens=100_000)
    finally:
        timer.cancel()
        timer.join()


def test_an_edit_that_sees_its_trace_is_freed(induction):
    class Seen:
        pass

    def pass_with_edit():
        seen = Seen()
        seen.trace = induction.trace(TEXT, edit={"blocks.0": lambda value: value if seen else None})
        return weakref.ref(seen)

    seen = pass_with_edit()
    gc.collect()
    assert seen() is None


def test_an_open_model_is_the_same_from_another_folder(tmp_path, monkeypatch):
    talking_llama(tmp_path)
    monkeypatch.chdir(tmp_path.parent)
    model = qkv.Model.open(tmp_path.name)
    before = model.generate(chat=True, user="abc", tokens=5)
    monkeypatch.chdir("/")
    assert model.generate(chat=True, user="abc", tokens=5) == before
    assert pathlib.Path(model.path).is_absolute()


@pytest.mark.parametrize("ask", [
    lambda text: qkv.Model.open("gpt").generate(text),
    lambda text: qkv.Model.open("gpt").generate(["a", text]),
    lambda text: qkv.ask("lens", model="gpt", text=text),
    qkv.Mask,
])  # fmt: skip
def test_half_a_pair_of_surrogates_is_no_text(ask):
    with pytest.raises(ValueError, match=r"(prompt|text|mask): expected text that UTF-8 has, got one with half a pair"):
        ask("a\ud800")


def test_each_of_several_names_is_said():
    with pytest.raises(ValueError, match="generate: text, texts: expected one of them, got both"):
        qkv.ask("generate", model="gpt", text="a", texts=["b"])
