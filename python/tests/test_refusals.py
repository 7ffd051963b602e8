"""Every field of every question with a wrong value: the command, Python and the pages say the same of it."""

import json
import math
import re
import struct
import subprocess

import numpy
import pytest
from matplotlib import image
from test_ask import COMMAND, COMMANDS, OPTIONS, PLACES, REFUSED, TOLD, printed_words

import qkv
from qkv import _models

QUESTIONS = {name: (fields, examples) for name, fields, examples in _models.questions()}
OF_COMMANDS = COMMANDS
NAMES = OPTIONS | {"images": "images caption"}
# Requests to which the wrong value is added, in place of the question's first example.
REQUESTS = {
    "probe": {"q": "[[1,0]]", "k": "[[1,0]]", "row": 0},
    "train": {"task": "copy", "out": "nowhere"},
    "fetch": {"name": "owner/name"},
    "check": {"a": "a.npy", "b": "b.npy"},
    "convert": {"model": "gpt", "out": "nowhere.gguf"},
    "match": {"images": ["a.png"], "captions": ["a circle"]},
}
# Texts that are read by a language or looked up, and one that means nothing there.
TEXTS = {
    "mask": "cuasal", "bias": "alibbi", "target": "abc", "preset": "gpt", "task": "copie", "head": "-",
    "kinds": ["rotory"], "pooling": "men", "tokens": "4:2", "remove": "head", "cut": "x", "pattern": "x", "set": "x",
    "random": "1,2", "window": "x", "area": "x", "tile": "x", "q": "[[1", "past_k": "[[1", "mask_file": "[[1",
    "kv_lengths": "x", "ids": "x",
}  # fmt: skip
# Fields that the question has in another form than the command.
OTHERWISE = {("match", "images"), ("mask", "mask")}


def options():
    """(command, option, its type) of every row that the command describes."""
    told = subprocess.run([COMMAND, "help", "--describe"], check=True, capture_output=True, text=True).stdout
    command = ""
    for line in told.splitlines():
        if line.startswith("### `qkv "):
            command = line.removeprefix("### `qkv ").removesuffix("`")
        elif line.startswith("| `"):
            option, kind, *_ = (cell.strip(" `") for cell in re.split(r"(?<!\\)\|", line)[1:])
            yield command, option, kind


TYPES = {(command, option): kind for command, option, kind in options()}


def type_of(question, field):
    """What the command says of a field's type; None where it has no such option."""
    name = NAMES.get(field, field)
    return TYPES.get((question, "--" + name.replace("_", "-"))) or TYPES.get((question, name.upper().replace("_", " ")))


def wrong_value(field, kind):
    """A value without a meaning for a field of this type; None where any text may have one."""
    if bounds := re.fullmatch(r"(whole number|number) from (\S+?)(?: to (\S+))?", kind):
        least, most = float(bounds[2]), float(bounds[3] or math.inf)
        if bounds[1] == "number":
            return None if least <= -1e18 else least - 1
        return int(least) - 1 if least > -(2**40) else int(most) + 1
    if kind.startswith(("text", "list of")):
        return TEXTS.get(field)
    return None if kind in ("true or false", "number of bytes") else "x7"


def base_of(question, field):
    """A request to which a wrong value of this field is added: one that has the field, if there is one."""
    if question in REQUESTS:
        return dict(REQUESTS[question])
    examples = [json.loads(example) for example in QUESTIONS[question][1]]
    return next((example for example in examples if field in example), examples[0])


def said_by_python(question, request):
    with pytest.raises((TypeError, ValueError, qkv.Error)) as raised:
        qkv.ask(question, **request)
    return str(raised.value)


def said_by_command(question, request):
    done = subprocess.run(
        [COMMAND, *printed_words(question, dict(request))], capture_output=True, text=True, check=False
    )
    assert done.returncode in (1, 2), (request, done.stdout)
    return done.stderr.strip()


def without_face(text, question):
    """The message with fields instead of options and places, and without quotes that only one of the faces has."""
    text = text.removeprefix("qkv ").removeprefix(f"{question}: ")
    text = re.sub(r"--([a-z][a-z-]*)", lambda option: option[1].replace("-", "_"), text)
    for place in PLACES.get(question, []):
        text = re.sub(rf"\b{place.upper()}\b", place, text)
    for field, option in NAMES.items():
        text = re.sub(rf"(?<![\w-]){option}(?=:)", field, text) if OPTIONS.get(field) == option else text
    text = re.sub(r'got "(-?[0-9.]+)"', r"got \1", text.replace(" or None", ""))
    return text.replace("'", '"').replace("`", "")


WRONG = [
    (question, field, wrong)
    for question in OF_COMMANDS
    for field, *_ in QUESTIONS[question][0]
    if (question, field) not in OTHERWISE and (wrong := wrong_value(field, type_of(question, field) or "")) is not None
]


def test_most_fields_have_a_wrong_value():
    told = {(question, field) for question in OF_COMMANDS for field, *_ in QUESTIONS[question][0]}
    missing = {(question, field) for question, field in told - OTHERWISE if type_of(question, field) is None}
    assert not missing, "a field that the command does not have"
    assert len(WRONG) > 150


@pytest.fixture
def _inputs(tmp_path, monkeypatch):
    """A folder with the files that REQUESTS name."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.npy", "b.npy"):
        numpy.save(name, numpy.zeros(2, numpy.float32))
    image.imsave("a.png", numpy.zeros((8, 8, 3), numpy.uint8))


@pytest.mark.usefixtures("_inputs")
@pytest.mark.parametrize(("question", "field", "wrong"), WRONG)
def test_the_command_and_python_say_the_same(question, field, wrong):
    request = {**base_of(question, field), field: wrong}
    ours = without_face(said_by_python(question, request), question)
    theirs = without_face(said_by_command(question, request), question)
    assert ours == theirs
    assert ours.startswith(f"{field}: "), ours


def error_of_page(question, request):
    """The error that a page gets over HTTP."""
    frames = []
    _models.Studio("", "").ask(question, json.dumps(request), lambda frame: frames.append(frame) or True)
    kind, length = struct.unpack("<II", frames[-1][:8])
    assert kind == 4, (question, request)
    return json.loads(frames[-1][8 : 8 + length])


def wrong_in_page(fields):
    """(name, wrong value) of each field that has one."""
    for field in fields:
        if field["type"].startswith("whole number"):
            yield field["name"], field["least"] - 1 if "least" in field else -1
        elif field["type"] == "number" and field.get("least", -1e18) > -1e18:
            yield field["name"], field["least"] - 1
        elif "words" in field:
            yield field["name"], ["x7"] if field["type"].startswith("list") else "x7"


def in_python(question, field):
    """The name of a question's field in Python."""
    names = [name for name, *_ in QUESTIONS[question][0]]
    return field if field in names else next(name for name in names if OPTIONS.get(name) == field)


@pytest.mark.usefixtures("_inputs")
def test_a_page_and_python_say_the_same():
    walked = 0
    for question in TOLD:
        if question["command"] in REFUSED:
            continue
        base = question["examples"][0] if question["examples"] else {}
        for field, wrong in wrong_in_page(question["fields"]):
            request = {**(base_of(question["command"], field) if question["command"] else base), field: wrong}
            error = error_of_page(question["name"], request)
            assert error["field"] == field, (question["name"], error)
            name = question["command"] or ("studio " if question["name"] in COMMANDS else "") + question["name"]
            said = said_by_python(name, {in_python(name, key): value for key, value in request.items()})
            ours = f"{in_python(name, field)}: " + without_face(error["message"], name)
            assert without_face(said, name) == ours, (name, field)
            walked += 1
    assert walked > 100
