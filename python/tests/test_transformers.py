"""qkv under models of transformers: random small ones, patched and not."""

import itertools

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

import qkv.torch  # noqa: E402

SMALL = {"vocab_size": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
ENCODER = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}


def bert():
    return transformers.BertForMaskedLM(transformers.BertConfig(**SMALL, **ENCODER, max_position_embeddings=32))


def gpt2():
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(**SMALL, n_embd=32, n_layer=2, n_head=4, n_positions=32)
    )


def llama():
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SMALL, **ENCODER, num_key_value_heads=2))


def gemma2():
    config = transformers.Gemma2Config(**SMALL, **ENCODER, num_key_value_heads=2, head_dim=8, sliding_window=4)
    return transformers.Gemma2ForCausalLM(config)


def t5():
    config = transformers.T5Config(
        **SMALL, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0
    )
    return transformers.T5ForConditionalGeneration(config)


MODELS = {"bert": bert, "gpt2": gpt2, "llama": llama, "gemma2": gemma2, "t5": t5}
IN_FLOAT = ("gemma2", "t5")  # a part of these computes in float32 at any rate
STOCK = {"gemma2": "eager"}  # PyTorch's own function has no softcap


def model_of(name):
    torch.manual_seed(0)
    model = MODELS[name]()
    model.set_attn_implementation(STOCK.get(name, "sdpa"))
    for module in model.modules():  # drops nothing in training
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        for word in ("dropout", "attention_dropout", "attn_dropout", "dropout_prob"):
            if isinstance(getattr(module, word, None), float):
                setattr(module, word, 0.0)
    return model if name in IN_FLOAT else model.double()


def inputs_of(name, padded):
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(3, 64, (3, 12), generator=generator)
    inputs = {"input_ids": ids}
    if padded:
        visible = torch.ones_like(ids)
        if name in ("bert", "t5"):
            visible[1, 7:] = visible[2, 3:] = 0
        else:
            visible[1, :5] = visible[2, :9] = 0
        inputs["attention_mask"] = visible
    if name == "t5":
        inputs["decoder_input_ids"] = torch.randint(3, 64, (3, 6), generator=generator)
    return inputs


def answers(model, inputs):
    """The logits of tokens that are no padding, and the gradient of every parameter."""
    model.zero_grad()
    logits = model(**inputs).logits
    visible = inputs.get("attention_mask")
    if visible is not None and "decoder_input_ids" not in inputs:
        logits = logits[visible.bool()]
    logits.square().mean().backward()
    return {
        "logits": logits.detach(),
        **{name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None},
    }


def assert_same(given, expected):
    assert given.keys() == expected.keys()
    for name, value in expected.items():
        tolerance = {"rtol": 1e-8, "atol": 1e-10} if value.dtype == torch.float64 else {"rtol": 1e-4, "atol": 1e-5}
        torch.testing.assert_close(given[name], value, **tolerance, msg=lambda said, name=name: f"{name}: {said}")


class Counted:
    """How often the engine was asked."""

    def __init__(self, monkeypatch):
        self.calls = 0
        original = qkv.attention

        def counting(*args, **options):
            self.calls += 1
            return original(*args, **options)

        monkeypatch.setattr(qkv, "attention", counting)


@pytest.fixture
def counted(monkeypatch):
    return Counted(monkeypatch)


@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
@pytest.mark.parametrize("name", MODELS)
def test_a_patched_model_gives_the_same(name, padded, training, counted):
    model, inputs = model_of(name).train(training), inputs_of(name, padded)
    expected = answers(model, inputs)
    assert counted.calls == 0
    with qkv.torch.patch(model):
        given = answers(model, inputs)
        assert counted.calls >= 2
    assert_same(given, expected)
    before = counted.calls
    assert_same(answers(model, inputs), expected)
    assert counted.calls == before


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "t5"])
def test_pytorchs_function_patched_gives_the_same(name, counted):
    model, inputs = model_of(name), inputs_of(name, True)
    expected = answers(model, inputs)
    with qkv.torch.patch():
        given = answers(model, inputs)
    assert counted.calls >= 2
    assert_same(given, expected)


@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma2", "t5"])
@pytest.mark.parametrize("cache", ["dynamic", "static"])
def test_generation_over_a_cache(name, cache, counted):
    model = model_of(name).eval()
    inputs = inputs_of(name, True)
    inputs.pop("decoder_input_ids", None)
    options = {"max_new_tokens": 8, "do_sample": False, "pad_token_id": 0, "eos_token_id": None}
    if cache == "static":
        options |= {"cache_implementation": "static", "disable_compile": True}
    expected = model.generate(**inputs, **options)
    with qkv.torch.patch(model):
        assert torch.equal(model.generate(**inputs, **options), expected)
    assert counted.calls > 8


def test_a_model_made_for_it():
    with qkv.torch.patch():
        config = transformers.BertConfig(**SMALL, **ENCODER, attn_implementation="qkv")
        model = transformers.BertModel(config)
        assert model.config._attn_implementation == "qkv"
        model(torch.tensor([[3, 4, 5]]))
    with pytest.raises(KeyError, match="qkv"):
        model(torch.tensor([[3, 4, 5]]))


def test_all_is_taken_out_again():
    original = torch.nn.functional.scaled_dot_product_attention
    model = model_of("bert")
    qkv.torch.patch()
    qkv.torch.patch(model)
    assert torch.nn.functional.scaled_dot_product_attention is not original
    assert model.config._attn_implementation == "qkv"
    qkv.torch.unpatch()
    qkv.torch.unpatch()  # of nothing
    assert torch.nn.functional.scaled_dot_product_attention is original
    assert model.config._attn_implementation == "sdpa"
    assert "qkv" not in transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS.valid_keys()
    assert "qkv" not in transformers.masking_utils.ALL_MASK_ATTENTION_FUNCTIONS.valid_keys()


def test_patches_within_patches():
    first, second = model_of("bert"), model_of("gpt2")
    outer = qkv.torch.patch(first)
    inner = qkv.torch.patch(second)
    outer.take_out()
    second(torch.tensor([[3, 4, 5]]))  # still known
    inner.take_out()
    assert second.config._attn_implementation == "sdpa"
    assert "qkv" not in transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS.valid_keys()


def test_layers_of_pytorch_go_through_it(counted):
    layer = torch.nn.MultiheadAttention(16, 4, batch_first=True)
    x = torch.randn(2, 5, 16, requires_grad=True)
    expected, _ = layer(x, x, x, need_weights=False)
    with qkv.torch.patch():
        given, _ = layer(x, x, x, need_weights=False)
    assert counted.calls == 1
    torch.testing.assert_close(given, expected)


def test_what_is_no_model_is_refused():
    with pytest.raises(TypeError, match="expected a model of transformers, got Linear"):
        qkv.torch.patch(torch.nn.Linear(2, 2))
    assert "qkv" not in transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS.valid_keys()


def test_weights_are_not_there():
    model = model_of("bert")
    with qkv.torch.patch(model), pytest.raises(ValueError, match=r"qkv.torch.watch\(\) shows them.*eager"):
        model(torch.tensor([[3, 4, 5]]), output_attentions=True)


@pytest.mark.parametrize("name", ["bert", "llama", "gemma2", "t5"])
def test_watched_weights_are_those_that_eager_stores(name):
    # In float64 the eager attention of a row of padding is NaN, and the next layer's with it.
    model, inputs = model_of(name).float().eval(), inputs_of(name, padded=True)
    with torch.no_grad():
        with qkv.torch.patch(model), qkv.torch.watch() as probes:
            model(**inputs)
        model.set_attn_implementation("eager")
        stored = model(**inputs, output_attentions=True)
    if name == "t5":  # each layer of the decoder calls its own attention, then the one over the encoder
        decoder = itertools.chain(*zip(stored.decoder_attentions, stored.cross_attentions, strict=True))
        expected = [*stored.encoder_attentions, *decoder]
    else:
        expected = stored.attentions
    assert len(probes) == len(expected)
    visible = inputs.get("attention_mask")
    for probe, weights in zip(probes, expected, strict=True):
        assert probe.shape == tuple(weights.shape)
        for b, h in itertools.product(range(3), range(weights.shape[1])):
            rows = slice(None) if name == "t5" else visible[b].bool()  # queries that are padding may see anything
            given = torch.from_numpy(probe.weights(h, b)).to(weights.dtype)
            torch.testing.assert_close(given[rows], weights[b, h][rows], rtol=1e-4, atol=1e-5)
