"""Every field of every question with a wrong value: the command, Python and the pages say the same of it."""

import json
import re
import struct
import subprocess

import numpy
import pytest
from matplotlib import image
from test_ask import COMMAND, COMMANDS, OPTIONS, OPTIONS_OF, PLACES, REFUSED, TOLD, printed_words

import qkv
from qkv import _models

QUESTIONS = {name: (fields, examples) for name, fields, examples in _models.questions()}
OF_COMMANDS = COMMANDS
# Texts of pages that are read by a language or looked up.
OF_PAGES = {"model": "nosuch", "mask": "cuasal", "bias": "alibbi", "changes": "x"}
NAMES = OPTIONS | {"images": "images caption"}
OF_MODEL = {"model": "induction", "text": "abcxyzab"}
OF_TENSORS = {"q": "[[1,0]]", "k": "[[1,0]]", "v": "[[1]]"}
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
    "kv_lengths": "x", "ids": "x", "sinks": "x", "lse": "[[1", "d_out": "[[1", "d_lse": "[[1", "bias_file": "[[1",
    "k": "[[1", "v": "[[1", "past_v": "[[1", "row": "x", "dtype": "f12", "sites": ["x"], "stage": "x", "changes": "x",
    "query": "~", "token": "~", "against": "~", "positions": "x", "step": "~", "map": "x", "why": "x",
}  # fmt: skip
# Texts of which any may be meant, or that are no field's alone, with the reason.
FREE = {
    "text": "what is read", "texts": "what is read", "second": "what is read", "context": "what is read",
    "from_text": "what is read", "pair": "what is read", "captions": "what is read", "system": "what is read",
    "user": "what is read", "language": "of a model that reads sound; the box has none",
    "pictures": "of a model that reads images alone; the box has none",
    "sounds": "of a model that reads sound; the box has none",
    "messages": "what is read", "prompt": "what is read", "prompt_name": "a folder's own", "stop": "what is written",
    "separator": "any line", "search": "any text", "title": "any text", "revision": "the hub's", "hub": "the hub's",
    "name": "the hub's", "worked": "beside nothing else", "model": "read: see READ",
    "picture": "read: see READ", "sound": "read: see READ", "file": "read: see READ",
    "start": "train's from, as task's first",
    "patch": "names of a model's values, beside another text",
    "out": "written, where the command can", "export": "written, where the command can",
}  # fmt: skip
# Requests in which a file is read.
READ = {
    ("attend", "q"): {"k": "[[1,0]]", "v": "[[1]]"}, ("attend", "k"): {"q": "[[1,0]]", "v": "[[1]]"},
    ("attend", "v"): {"q": "[[1,0]]", "k": "[[1,0]]"}, ("probe", "q"): {"k": "[[1,0]]", "row": 0},
    ("probe", "k"): {"q": "[[1,0]]", "row": 0}, ("probe", "lse"): {"q": "[[1,0]]", "k": "[[1,0]]", "row": 0},
    ("attend", "mask_file"): {"q": "[[1,0]]", "k": "[[1,0]]", "v": "[[1]]"},
    ("attend", "bias_file"): {"q": "[[1,0]]", "k": "[[1,0]]", "v": "[[1]]"},
    ("check", "a"): {"b": "b.npy"}, ("check", "b"): {"a": "a.npy"}, ("check", "file"): {"a": "gpt", "b": "gpt"},
    ("probe", "model"): {"text": "ab", "row": 0},
    ("probe", "picture"): {"model": "shapes", "row": 0}, ("explain", "picture"): {"model": "shapes"},
    ("change", "picture"): {"model": "shapes", "remove": ["0.0"]}, ("lens", "picture"): {"model": "shapes"},
    ("probe", "sound"): {"model": "gpt", "row": 0}, ("explain", "sound"): {"model": "gpt"},
    ("change", "sound"): {"model": "gpt", "remove": ["0.0"]}, ("lens", "sound"): {"model": "gpt"},
    ("explain", "model"): {"text": "ab"},
    ("explain", "npz"): {}, ("analyze", "model"): {},
    ("analyze", "syntax"): {"model": "english"}, ("change", "model"): {"text": "ab", "remove": ["0.0"]},
    ("change", "file"): {"model": "english", "remove": ["0.0"]}, ("lens", "model"): {"text": "ab"},
    ("generate", "model"): {"text": "ab"}, ("generate", "file"): {"model": "gpt"},
    ("fill", "model"): {"text": "ab"}, ("embed", "model"): {"text": "ab"}, ("embed", "file"): {"model": "english"},
    ("match", "model"): {"images": ["a.png"], "captions": ["a"]},
    ("match", "file"): {"images": ["a.png"]}, ("convert", "model"): {"out": "nowhere.gguf"}, ("info", "file"): {},
    ("tokens", "tokenizer"): {"text": "a"}, ("tokens", "file"): {"tokenizer": "english"},
    ("train", "data"): {"task": "text", "out": "nowhere"},
    ("train", "tokenizer"): {"task": "text", "data": "notes.txt", "out": "nowhere"},
}  # fmt: skip
# Requests of sound words, which together have no meaning, and the field that is to blame.
MEANINGLESS = [
    ("random", "probe", {"random": "1,2,3,8,8,4", "row": 1}), ("layer", "probe", OF_MODEL | {"layer": 9, "row": 1}),
    ("map, row, tile, top_k, key_totals, stats", "probe", {"random": "1,2,1,8,8,4"}),
    ("window", "attend", OF_TENSORS | {"window": "0"}), ("window", "attend", OF_TENSORS | {"window": "1,-1"}),
    ("top_k", "generate", {"model": "sort", "text": "hellob", "top_k": 5}),
    ("top_p", "generate", {"model": "sort", "text": "hellob", "top_p": 0.5}),
    ("min_p", "generate", {"model": "sort", "text": "hellob", "min_p": 0.5}),
    ("model", "generate", {"model": "gpt", "user": "hello", "chat": True}),
    ("sound", "generate", {"model": "gpt", "sound": "picture.npy"}),
    ("sites", "analyze", {"model": "induction", "sites": ["cross"]}),
    ("pictures", "analyze", {"model": "shapes", "pictures": ["picture.npy"]}),
    ("sounds", "analyze", {"model": "induction", "sounds": ["picture.npy", "picture.npy"]}),
    ("pictures", "analyze", {"model": "shapes", "pictures": ["picture.npy"], "sounds": ["picture.npy"]}),
    ("pictures", "analyze", {"model": "shapes", "pictures": ["picture.npy"], "chat": True}),
    ("sound", "lens", {"model": "shapes", "picture": "picture.npy", "sound": "picture.npy"}),
    ("picture", "change", {"model": "shapes", "text": "a", "picture": "picture.npy", "remove": ["0.0"]}),
    ("chat", "explain", {"model": "gpt", "sound": "picture.npy", "user": "a", "chat": True}),
    ("system", "lens", {"model": "gpt", "text": "a", "system": "b"}),
    ("examples", "change", {"model": "gpt", "examples": 2, "picture": "picture.npy", "remove": ["0.0"]}),
    ("layer", "explain", OF_MODEL | {"layer": 9}), ("head", "explain", OF_MODEL | {"head": "0.9"}),
    ("model", "convert", {"model": "sort", "out": "nowhere.gguf"}),
    ("task", "train", {"task": "nope"}), ("size", "train", {"task": "copy", "size": 300}),
    ("steps", "train", {"task": "tokenizer", "data": "notes.txt", "steps": 3}),
    ("image_side", "train", {"task": "copy", "image_side": 8}),
    ("query", "change", {"model": "induction", "examples": 4, "query": "3", "remove": ["0.0"]}),
]  # fmt: skip
# A value of another type for each type of field.
OTHER_TYPES = {
    "whole number": "3", "number": "x", "true or false": "yes", "text": 5, "list of texts": 5, "number of bytes": 1.5,
}  # fmt: skip


def takes_a_number(field):
    """Of a text whose example is numbers without brackets or rows: one number stands for it."""
    return field["type"] == "text" and re.fullmatch(r"[\d., ]+", field.get("example", ""))


# No such file, a folder, an empty file, a file of another kind; where one of them is what is wanted, it is left out.
WRONG_FILES = ("./none.npy", "./folder", "./empty.npy", "./picture.npy")
FITS = {"text": ("./picture.npy",), ("check", "file"): ("./picture.npy", "./empty.npy"), "data": ("./picture.npy",),
        ("match", "file"): ("./picture.npy",), ("generate", "file"): ("./picture.npy",),
        "picture": ("./picture.npy",)}  # fmt: skip
# Fields that the question has in another form than the command.
OTHERWISE = {("match", "images"), ("mask", "mask")}


def options():
    """(command, option, its type and its bounds) of every row that the command describes."""
    told = subprocess.run([COMMAND, "help", "--describe"], check=True, capture_output=True, text=True).stdout
    command = ""
    for line in told.splitlines():
        if line.startswith("### `qkv "):
            command = line.removeprefix("### `qkv ").removesuffix("`")
        elif line.startswith("| `"):
            option, kind, bounds, *_ = (cell.strip(" `") for cell in re.split(r"(?<!\\)\|", line)[1:])
            yield command, option, (kind, bounds)


TYPES = {(command, option): told for command, option, told in options()}


def type_of(question, field):
    """What the command says of a field's type and bounds; None where it has no such option."""
    name = OPTIONS_OF.get((question, field), NAMES.get(field, field))
    command = question.replace("bench_", "bench ")
    return TYPES.get((command, "--" + name.replace("_", "-"))) or TYPES.get((command, name.upper().replace("_", " ")))


def wrong_value(field, told):
    """A value without a meaning for a field of this type and bounds; None where any text may have one."""
    kind, bounds = told
    if kind in ("whole number", "number"):
        end = re.match(r"(above |from )?(-?[0-9.e]+)", bounds)
        least = float(end[2])
        if end[1] == "above ":
            return least
        return None if least <= -1e38 else least - 1 if kind == "number" else int(least) - 1
    if kind == "text" and bounds:
        return "x7"
    return TEXTS.get(field) if kind.startswith(("text", "list of")) else None


def base_of(question, field):
    """A request to which a wrong value of this field is added: one that has the field, if there is one."""
    if field == "random":
        return {"row": 0}
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
        [COMMAND, *printed_words(question, dict(request))],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode in (1, 2), (request, done.stdout)
    return done.stderr.strip()


def without_face(text, question):
    """The message with fields instead of options and places, and without the faces' own quotes around words."""
    command = question.replace("bench_", "bench ")
    text = re.sub(f"^(qkv )?({question}|{command}): ", "", text)
    own = {field for field, *_ in QUESTIONS.get(question, [[]])[0]}
    fields = {OPTIONS_OF.get((question, field), OPTIONS.get(field, field)): field for field in own}
    words = re.split(r"--([a-z][a-z-]*)", text)
    words[1::2] = [fields.get(option, option) for option in (word.replace("-", "_") for word in words[1::2])]
    text = "".join(words)
    for place in PLACES.get(question, []):
        text = re.sub(rf"\b{place.upper()}\b", place, text)
    for field, option in NAMES.items():
        if option in own:
            continue
        text = re.sub(rf"(?<![\w-]){option}(?=:)", field, text) if OPTIONS.get(field) == option else text
    return text.replace(" or None", "").replace("'", '"').replace("`", "")


WRONG = [
    (question, field, wrong)
    for question in OF_COMMANDS
    for field, *_ in QUESTIONS[question][0]
    if (question, field) not in OTHERWISE
    and (wrong := wrong_value(field, type_of(question, field) or ("", ""))) is not None
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
    image.imsave("picture.png", numpy.zeros((8, 8, 3), numpy.uint8))
    (tmp_path / "picture.png").rename("picture.npy")
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("some text\nand more\n")


@pytest.mark.usefixtures("_inputs")
@pytest.mark.parametrize(("question", "field", "wrong"), WRONG)
def test_the_command_and_python_say_the_same(question, field, wrong):
    request = {**base_of(question, field), field: wrong}
    ours = without_face(said_by_python(question, request), question)
    theirs = without_face(said_by_command(question, request), question)
    assert ours == theirs
    assert ours.startswith(f"{field}: "), ours


@pytest.mark.usefixtures("_inputs")
@pytest.mark.parametrize(("field", "question", "request_"), MEANINGLESS)
def test_what_together_has_no_meaning_is_said_alike(field, question, request_):
    ours = without_face(said_by_python(question, request_), question)
    assert ours == without_face(said_by_command(question, request_), question)
    assert ours.startswith(f"{field}: "), ours


def test_every_text_has_a_wrong_value_or_a_reason():
    told = {field for question, field in TYPES_OF if (question, field) not in READ | dict.fromkeys(OTHERWISE)}
    assert told <= TEXTS.keys() | FREE.keys(), told - TEXTS.keys() - FREE.keys()


TYPES_OF = [
    (question, field)
    for question in OF_COMMANDS
    for field, *_ in QUESTIONS[question][0]
    if (told := type_of(question, field)) and re.match(r"text( `|$)|list of texts", told[0]) and not told[1]
]


@pytest.mark.usefixtures("_inputs")
@pytest.mark.parametrize(("question", "field"), READ)
def test_a_wrong_file_is_named_by_its_field(question, field):
    for path in WRONG_FILES:
        if path in FITS.get((question, field), FITS.get(field, ())):
            continue
        request = {**READ[question, field], field: path}
        ours = without_face(said_by_python(question, request), question)
        assert ours.startswith(f"{field}: "), ours
        assert path in ours, ours
        assert ours == without_face(said_by_command(question, request), question)


@pytest.mark.usefixtures("_inputs")
@pytest.mark.parametrize(
    ("first", "question", "request_"),
    [
        ("q", "attend", dict.fromkeys("qkv", "./none.npy")),
        ("a", "check", dict.fromkeys("ab", "./none.npy")),
        ("file", "check", dict.fromkeys(["a", "b", "file"], "./none.npy")),
        ("a", "check", dict.fromkeys("ab", "./none.npy") | {"file": "notes.txt"}),
        ("file", "embed", dict.fromkeys(["model", "file"], "./none.npy")),
    ],
)
def test_of_fields_with_one_path_the_one_that_is_opened_is_named(first, question, request_):
    ours = without_face(said_by_python(question, request_), question)
    assert ours.startswith(f"{first}: ") and "./none.npy" in ours, ours
    assert ours == without_face(said_by_command(question, request_), question)


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
        elif field["type"] == "number" and field["least"] > -1e38:
            yield field["name"], field["least"] if field.get("above") else field["least"] - 1
        elif "words" in field:
            yield field["name"], ["x7"] if field["type"].startswith("list") else "x7"
        elif field["name"] in OF_PAGES:
            wrong = OF_PAGES[field["name"]]
            yield field["name"], [wrong] if field["type"].startswith("list") else wrong


def in_python(question, field):
    """The name of a question's field in Python."""
    names = [name for name, *_ in QUESTIONS[question][0]]
    return field if field in names else next(name for name in names if OPTIONS.get(name) == field)


@pytest.mark.usefixtures("_inputs")
def test_a_page_and_python_say_the_same():
    walked = 0
    for question in TOLD:
        if question["command"].replace(" ", "_") in REFUSED:
            continue
        command, examples = question["command"].replace(" ", "_"), question["examples"] or [{}]
        for field, wrong in wrong_in_page(question["fields"]):
            of_page = next((example for example in examples if field in example), examples[0])
            base = base_of(command, field) if command else of_page
            if field in OF_PAGES and field not in base:
                continue  # other fields may exclude it
            request = {**base, field: wrong}
            error = error_of_page(question["name"], request)
            assert error["field"] == field, (question["name"], error)
            name = command or question["name"]
            said = said_by_python(name, {in_python(name, key): value for key, value in request.items()})
            before = f"{in_python(name, field)}: "
            assert without_face(said, name) == before + without_face(error["message"], ""), (name, field)
            walked += 1
    assert walked > 100


def said_of_page(name, request, field):
    """What a page and Python say of a field, which both name."""
    question = next(one for one in TOLD if one["name"] == name)
    error = error_of_page(name, request)
    assert error["field"] == field, (name, error)
    asked = question["command"].replace(" ", "_") or name
    named = {in_python(asked, key): value for key, value in request.items()}
    before = without_face(f"{asked}: {in_python(asked, field)}: ", asked)
    said = without_face(said_by_python(asked, named), asked)
    assert said.startswith(before), (name, said)
    return without_face(error["message"], ""), said.removeprefix(before)


def test_a_value_of_another_type_is_said_alike():
    walked = 0
    for question in TOLD:
        if question["command"].replace(" ", "_") in REFUSED:
            continue
        for field in question["fields"]:
            if field["type"] not in OTHER_TYPES or takes_a_number(field):
                continue
            wrong = OTHER_TYPES[field["type"]]
            page, python = said_of_page(question["name"], {field["name"]: wrong}, field["name"])
            assert page == python, (question["name"], field["name"])
            walked += 1
    assert walked > 300


def test_one_text_is_a_list_of_one():
    for name, field in [("embed", "pooling"), ("bench_positions", "kinds"), ("analyze", "sites")]:
        base = base_of(name, field)
        page, python = said_of_page(name, base | {field: "x7"}, field)
        assert page == python
        assert page == without_face(error_of_page(name, base | {field: ["x7"]})["message"], "")


def test_a_field_that_is_none_is_said_alike():
    for question in TOLD:
        name = (question["command"].replace(" ", "_") or question["name"]).replace(" ", "_")
        if question["command"].replace(" ", "_") not in REFUSED:
            error = error_of_page(question["name"], {"colour": 1})
            assert (error["field"], error["message"]) == ("colour", "there is no field colour")
        for asked in (name, question["name"]):
            assert said_by_python(asked, {"colour": 1}) == f"{asked}: there is no field colour"
    assert error_of_page("analyze", {"site": 1})["message"] == "there is no field site; did you mean sites?"
    assert said_by_python("analyze", {"site": 1}) == "analyze: there is no field site; did you mean sites?"
    done = subprocess.run([COMMAND, "analyze", "--sites"], check=False, capture_output=True, text=True)
    assert done.stderr == "qkv analyze: there is no option --sites; did you mean --site?\n"
    done = subprocess.run([COMMAND, "attend", "--random"], check=False, capture_output=True, text=True)
    assert done.stderr == "qkv attend: there is no option --random; `qkv attend --help` lists them\n"


def test_a_request_that_is_no_object_names_no_field():
    frames = []
    for text in ("{", "[]"):
        _models.Studio("", "").ask("cost", text, lambda frame: frames.append(frame) or True)
        kind, length = struct.unpack("<II", frames[-1][:8])
        error = json.loads(frames[-1][8 : 8 + length])
        assert (kind, error["field"]) == (4, "")
        assert error["message"].startswith("the request: expected ")
