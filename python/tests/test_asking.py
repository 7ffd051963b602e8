"""Functions that stand for questions: what a question refuses, its function refuses in the same words."""

import inspect
import json
import math
import re
import subprocess
import warnings

import pytest
from matplotlib import image
from test_ask import COMMAND, TOLD, printed_words
from test_models import sentence_transformer, talking_llama
from test_refusals import OTHER_TYPES, QUESTIONS, _inputs, takes_a_number  # noqa: F401

import qkv
from qkv import insight


def placed(call, *names):
    """A function that is given some fields by their place, and all others by name."""
    return lambda request: call(
        *[request.get(name) for name in names], **{name: one for name, one in request.items() if name not in names}
    )


def of_model(method, *names):
    """The same of a method, whose model the request names."""
    return lambda request: placed(getattr(opened(request.pop("model")), method), *names)(request)


def opened(name):
    if name not in MODELS:
        MODELS[name] = qkv.Model.open(name)
    return MODELS[name]


MODELS = {}


def generate(request):
    model = opened(request.pop("model"))
    return model.generate(request.pop("texts", None) or request.pop("text", None), **request)


def match(request):
    pictures = [(image.imread(name)[:, :, :3] * 255).astype("uint8") for name in request.pop("images")]
    return opened(request.pop("model")).match(pictures, request.pop("captions", []))


def change_texts(request):
    named = {name: one for name, one in request.items() if name not in ("model", "texts", "changes", "examples")}
    lists = [request.get("texts"), request.get("changes")]
    return insight.change_texts(request["model"], *lists, count=request.get("examples"), **named)


def sweep(request):
    return placed(insight.sweep, "model", "text", "sweep")(request)


def train(request):
    return placed(qkv.train, "task", "data")(
        {"directory" if name == "out" else name: one for name, one in request.items()}
    )


# The question, its function, a request, the fields that the function does not have, and its own names of others.
FUNCTIONS = {
    "heads": (
        "analyze", placed(insight.heads, "model", "texts"), {"model": "induction"},
        insight.heads, {"file", "syntax"}, {},
    ),
    "change": (
        "change", placed(insight.change, "model", "text", "changes"),
        {"model": "induction", "text": "abcxyzab", "changes": ["remove 1.0"]},
        insight.change, {"examples", "file", "texts", "sweep"}, {},
    ),
    "change_texts": (
        "change", change_texts, {"model": "induction", "examples": 4, "changes": ["remove 1.0"]},
        insight.change_texts,
        {"text", "example", "file", "sweep", "query", "token", "against", "picture", "sound", "chat", "system", "user",
         "messages"},
        {"count": "examples"},
    ),
    "sweep": (
        "change", sweep, {"model": "induction", "text": "abcxyzab", "sweep": "heads"},
        insight.sweep, {"examples", "file", "texts", "untouched"}, {"of": "sweep"},
    ),
    "lens": ("lens", placed(insight.lens, "model", "text"), {"model": "induction", "text": "abcxyzab"},
             insight.lens, set(), {}),
    "generate": ("generate", generate, {"model": "gpt", "text": "The cat"}, qkv.Model.generate,
                 {"samples", "file", "whole_file", "separator"}, {"prompt": "text"}),
    "embed": ("embed", of_model("embed", "texts"), {"model": "english", "texts": ["the cats are small"]},
              qkv.Model.embed, {"text", "file", "whole_file", "separator"}, {}),
    "fill": ("fill", of_model("fill", "text", "count"), {"model": "english", "text": "the cats <be> small"},
             qkv.Model.fill, set(), {}),
    "match": ("match", match, {"model": "towers", "images": ["a.png"], "captions": ["a circle"]},
              qkv.Model.match, {"file", "maps", "numbers"}, {"texts": "captions"}),
    "train": ("train", train, {"task": "copy", "out": "nowhere"}, qkv.train, {"size"}, {"directory": "out"}),
}  # fmt: skip
# Fields that a function brings into shape itself: images are arrays, one text or none is a list, a count has its own.
SHAPED = {("match", "images"), ("match", "captions"), ("generate", "text"), ("generate", "texts"), ("heads", "texts"),
          ("change_texts", "texts"), ("train", "resume")}  # fmt: skip


def fields_of(question):
    """What is told of each field, by its name in Python."""
    told = next(one["fields"] for one in TOLD if one["command"].replace(" ", "_") == question)
    return {name: field for field, (name, *_) in zip(told, QUESTIONS[question][0], strict=True)}


def value_of(field):
    """Its example, as a value."""
    text = field["example"]
    if field["type"] == "true or false":
        return text == "true"
    if field["type"] in ("whole number", "number"):
        return int(text) if field["type"] == "whole number" else float(text)
    return [text] if field["type"].startswith("list") else text


def in_python(fields, name):
    """The name in Python of a field that the engine calls so."""
    return next(one for one, field in fields.items() if field["name"] == name)


def put(request, fields, need, known):
    """Adds a field, "optimizer" or "optimizer=sgd", and what it needs itself: of several, the first that is known."""
    name, _, value = need.partition("=")
    name = in_python(fields, name)
    request[name] = value or request.get(name) or value_of(fields[name])
    one_of = [other for other in fields[name].get("needs_one", []) if other.partition("=")[0] in known]
    for other in [*fields[name].get("needs", []), *one_of[:1]]:
        if in_python(fields, other.partition("=")[0]) not in request or "=" in other:
            put(request, fields, other, known)


def forbidden_pairs():
    """(function, request) of each pair of fields that exclude each other, and of each field without what it needs."""
    for function, (question, _, base, _, absent, _) in FUNCTIONS.items():
        fields = fields_of(question)
        known = {field["name"] for name, field in fields.items() if name not in absent}
        for name, field in fields.items():
            if name in absent:
                continue
            for other in field.get("excludes", []):
                if other.partition("=")[0] not in known:
                    continue
                request = dict(base)
                put(request, fields, field["name"], known)
                put(request, fields, other, known)
                yield function, f"{name} beside {other}", request
            if {"needs", "needs_one"} & field.keys() and name not in base:
                yield function, f"{name} alone", {**base, name: value_of(field)}
            for other in field.get("one_of", []):
                if name in base or other not in known:
                    continue
                yield function, f"{name} with {other}", {**base, name: value_of(field)}


def wrong_values():
    """(function, request) of each field with values out of its bounds, that are none of its words, or of a type that
    it does not have.
    """
    for function, (question, _, base, _, absent, _) in FUNCTIONS.items():
        for name, field in fields_of(question).items():
            if name in absent or name == "model" or (function, name) in SHAPED:
                continue
            has_other = field["type"] in OTHER_TYPES and not takes_a_number(field)
            wrong = [OTHER_TYPES[field["type"]]] if has_other else []
            if field["type"] in ("whole number", "number"):
                wrong += [field["least"] - 1] if "least" in field and field["least"] > -1e38 else []
                wrong += [field["most"] + 1] if "most" in field and field["most"] < 2**62 else []
            if field["type"] == "number":
                wrong.append(math.nan)
            if "words" in field:
                wrong.append(["x7"] if field["type"].startswith("list") else "x7")
            for value in wrong:
                yield function, f"{name}={value}", {**base, name: value}


def said(call, request):
    """What is wrong of it; None where nothing is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(request)
    except (TypeError, ValueError, qkv.Error) as error:
        return type(error), str(error)
    return None


def own_names(text):
    """The arguments that an error names: before its colon, and in backquotes."""
    named, _, rest = text.partition(": ")[2].partition(": ")
    return {one.partition("[")[0] for one in named.split(", ")} | set(re.findall(r"`(\w+)`", rest))


def without(absent, text):
    """What a question says, but for fields that a function does not have."""

    def left(several):
        names = [one for one in re.findall(r"`\w+`", several[0]) if one.strip("`") not in absent]
        return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

    named, colon, rest = text.partition(": ")
    kept = [one for one in named.split(", ") if one not in absent]
    return ", ".join(kept) + colon + re.sub(r"`\w+`(, `\w+`)* or `\w+`", left, rest)


def in_fields(text, own):
    """What a function says, in the names of the question."""
    text = text.partition(": ")[2]
    named, colon, rest = text.partition(": ")
    words = [own.get(one, one) for one in named.split(", ")]
    return ", ".join(words) + colon + re.sub(r"`(\w+)`", lambda one: f"`{own.get(one[1], one[1])}`", rest)


def require_the_same(function, request):
    question, call, _, told, absent, own = FUNCTIONS[function]
    asked = said(lambda one: qkv.ask(question, **one), dict(request))
    assert asked is not None, f"the question takes {request}"
    ours = said(call, dict(request))
    assert ours is not None, f"{function} takes what the question refuses: {asked[1]}"
    assert ours[0] is asked[0], (ours, asked)
    assert in_fields(ours[1], own) == without(absent, asked[1].partition(": ")[2])
    assert own_names(ours[1]) <= inspect.signature(told).parameters.keys() | {"model"}, ours[1]


@pytest.mark.usefixtures("_inputs")
@pytest.mark.parametrize(("function", "request_"), [
    pytest.param(function, request, id=f"{function}: {what}") for function, what, request in forbidden_pairs()
])  # fmt: skip
def test_what_has_no_meaning_together_is_refused_by_the_function_too(function, request_):
    require_the_same(function, request_)


@pytest.mark.usefixtures("_inputs")
@pytest.mark.parametrize(("function", "request_"), [
    pytest.param(function, request, id=f"{function}: {what}") for function, what, request in wrong_values()
])  # fmt: skip
def test_a_wrong_value_is_refused_by_the_function_too(function, request_):
    require_the_same(function, request_)


def test_many_requests_are_walked():
    assert len(list(forbidden_pairs())) > 90
    assert len(list(wrong_values())) > 150
    assert {function for function, *_ in forbidden_pairs()} >= {"heads", "change", "generate", "embed", "train"}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_field_of_the_question_is_an_argument_or_is_known_not_to_be(function):
    question, _, _, told, absent, own = FUNCTIONS[function]
    arguments = inspect.signature(told).parameters.keys() | {"model"}
    names = {own.get(name, name) for name in arguments} | ({"texts"} if "prompt" in own else set())
    assert fields_of(question).keys() - absent <= names
    assert not absent & names


def test_a_field_that_the_function_does_not_have_is_none():
    for function, (_, call, base, _, absent, _) in FUNCTIONS.items():
        if function in ("fill", "match"):
            continue  # which take no field by name
        for name in absent:
            error, text = said(call, {**base, name: "x"})
            assert error is TypeError and text.startswith(f"{function}: there is no field {name}"), text


CAUTIOUS = [
    ("lens", {"model": "reverse", "text": "hello"}),
    ("change", {"model": "reverse", "text": "hello", "changes": ["remove 0.0"]}),
    ("sweep", {"model": "reverse", "text": "hello", "sweep": "heads"}),
    ("generate", {"model": "sort", "text": "hello"}),
    ("embed", {"model": "english", "texts": ["small the cat"]}),
    ("fill", {"model": "english", "text": "small the <be> cat"}),
    ("embed", {"model": "./encoder", "texts": ["the cat"]}),
    ("embed", {"model": "./encoder", "texts": ["the", "the " * 20], "prompt": ""}),
]


@pytest.mark.parametrize(("function", "request_"), CAUTIOUS)
def test_what_the_command_is_careful_with_becomes_warnings(function, request_, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "encoder").mkdir()
    sentence_transformer(tmp_path / "encoder")
    question, call, *_ = FUNCTIONS[function]
    words = [COMMAND, *printed_words(question, dict(request_))]
    printed = subprocess.run(words, check=True, capture_output=True, text=True).stderr.splitlines()
    careful = [line.partition(": careful: ")[2] for line in printed if ": careful: " in line]
    assert careful
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert call(dict(request_)) is not None
    assert [str(warning.message).partition(": ")[2] for warning in told] == careful
    assert {warning.filename for warning in told} == {__file__}
    reply = qkv.ask(question, **request_)
    assert (reply[0] if isinstance(reply, list) else reply)["cautions"] == careful


def test_notes_of_the_command_become_warnings_too(tmp_path):
    folder = talking_llama(tmp_path)
    (folder / "generation_config.json").write_text(json.dumps({"do_sample": True, "temperature": 2.5, "top_k": 9}))
    note = "this is the likeliest text; its generation_config.json asks for `temperature` 2.5 `top_k` 9"
    words = [COMMAND, "generate", folder, "abc", "--tokens", "1"]
    printed = subprocess.run(words, check=True, capture_output=True, text=True).stderr
    assert note.replace("`temperature`", "--temperature").replace("`top_k`", "--top-k") in printed
    with pytest.warns(UserWarning, match=re.escape(note)):
        qkv.Model.open(folder).generate("abc", tokens=1)
    assert qkv.ask("generate", model=str(folder), text="abc", tokens=1)[0]["notes"] == [note]


def test_cautions_of_a_model_are_said_when_it_is_opened(tmp_path):
    folder = talking_llama(tmp_path)
    words = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(words | {"split_special_tokens": True}))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = qkv.Model.open(folder)
        assert ["split_special_tokens" in str(warning.message) for warning in told] == [True]
        model.generate("abc", tokens=1)
    assert len(told) == 1
