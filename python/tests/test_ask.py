"""Every question by its name: the reply of qkv.ask is that of the command, and of the studio's pages."""

import contextlib
import copy
import hashlib
import http.server
import inspect
import json
import pathlib
import struct
import subprocess
import threading
import urllib.request

import numpy
import pytest
from replies import TYPES, in_json

import qkv
from qkv import _models

COMMAND = pathlib.Path(qkv.__file__).parent / "bin" / "qkv"
TOLD = json.loads(subprocess.run([COMMAND, "view", "--describe"], check=True, capture_output=True).stdout)["questions"]
COMMANDS = [one["command"].replace(" ", "_") for one in TOLD if one["command"].replace(" ", "_")]
ASKED = [(name, example) for name, _, examples in _models.questions() for example in examples]
OF_COMMANDS = [one for one in ASKED if one[0] in COMMANDS and one[0] != "view"]
OF_PAGES = [one for one in ASKED if one[0] not in COMMANDS]
# What a command takes by its place, calls otherwise, or prints as lines of JSON without being asked for it.
PLACES = {
    "cost": ["preset"], "mask": ["mask"], "explain": ["text"], "analyze": ["model"], "change": ["model", "text"],
    "lens": ["model", "text"], "generate": ["model", "text"], "fill": ["model", "text"], "embed": ["model", "text"],
    "task": ["task"], "tokens": ["tokenizer", "text"], "match": ["images"], "train": ["task", "data"],
    "check": ["a", "b"], "convert": ["model", "out"], "fetch": ["name"], "info": ["file"], "view": ["model"],
}  # fmt: skip
OPTIONS = {
    "captions": "caption", "changes": "change", "sites": "site", "pictures": "picture", "sounds": "sound",
    "first": "from", "start": "from",
}  # fmt: skip
OPTIONS_OF = {(name, "texts"): "line" for name in ("analyze", "change", "embed", "generate")}
JOINED = {"kinds", "results", "sites"}  # by commas
IN_LINES = {"generate", "embed"}
# Commands without a question, and why.
WITHOUT = {"help": "what it says is of the command itself"}
# Commands whose question a server does not answer for its readers.
REFUSED = {
    "bench_bottleneck": "write them", "convert": "writes a model", "fetch": "the network", "view": "writes a page",
}  # fmt: skip


def printed_words(question, request):
    """The request as the command has it."""
    placed = []
    for place in PLACES.get(question, []):
        given = request.pop(place, [])
        placed += given if isinstance(given, list) else [given]
    words = [*question.replace("bench_", "bench ").split(), *([] if question in ("embed", "view") else ["--json"])]
    for name, value in request.items():
        option = "--" + OPTIONS_OF.get((question, name), OPTIONS.get(name, name)).replace("_", "-")
        if isinstance(value, bool):
            words.append(option if value else option.replace("--", "--no-", 1))
        else:
            many = [",".join(value)] if name in JOINED else value if isinstance(value, list) else [value]
            words += [f"{option}={one}" for one in many]
    return [*words, *(["--", *placed] if placed else [])]


def printed(question, request):
    words = [COMMAND, *printed_words(question, dict(request))]
    done = subprocess.run(words, check=question != "check", capture_output=True, text=True)
    if question not in IN_LINES and not (question == "tokens" and "file" in request):
        return json.loads(done.stdout)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return lines if "file" in request or question == "generate" else lines[0]


def in_floats(reply):
    """Vectors of embed, of which the command prints the digits of a float alone."""
    all_replies = reply if isinstance(reply, list) else [reply]
    return [numpy.float32(one.pop("vector")).tolist() for one in all_replies]


@pytest.mark.parametrize(("question", "example"), OF_COMMANDS)
def test_a_reply_is_that_of_the_command(question, example):
    request = json.loads(example)
    expected = printed(question, request)
    reply = without_times(in_json(qkv.ask(question, **request)))
    if question == "embed":
        assert in_floats(reply) == in_floats(expected)
    if question == "bench_variants":  # a program of its own knows what its heap holds
        assert all(one.pop("bytes") >= 0 for one in expected["results"])
    assert reply == without_times(expected)


def without_times(reply):
    if isinstance(reply, dict):
        return {name: without_times(one) for name, one in reply.items() if name != "seconds"}
    return [without_times(one) for one in reply] if isinstance(reply, list) else reply


@pytest.mark.parametrize(
    ("question", "given"),
    [
        ("train", {"task": "copy", "steps": 3, "examine_every": 3, "examples": 8}),
        ("train", {"task": "tokenizer", "data": "book.txt", "size": 260}),
        ("embed", {"model": "english", "file": "texts.txt"}),
        ("generate", {"model": "gpt", "file": "texts.txt", "tokens": 4}),
        ("tokens", {"tokenizer": "english", "file": "texts.txt", "no_specials": True}),
        ("analyze", {"model": "english", "file": "texts.txt", "importance": 0}),
        ("change", {"model": "english", "file": "lines.txt", "remove": ["0.0"]}),
        ("check", {"a": "a.npy", "b": "b.npy", "rtol": 0.5}),
        ("match", {"images": ["a.png"], "file": "captions.txt"}),
        ("match", {"images": ["a.png", "b.png"], "captions": ["top left a red circle", "a blue square"], "maps": True}),
    ],
)
def test_a_reply_with_files_is_that_of_the_command(question, given, tmp_path, monkeypatch):
    from matplotlib import image

    monkeypatch.chdir(tmp_path)
    pathlib.Path("book.txt").write_text("the cat and the hat and the bat", encoding="utf-8")
    pathlib.Path("texts.txt").write_text("the cats are small\nthe dogs are near\n", encoding="utf-8")
    pathlib.Path("captions.txt").write_text("top left a red circle\na blue square\n", encoding="utf-8")
    pathlib.Path("lines.txt").write_text("the cats <be> small\nthe dogs <be> near\n", encoding="utf-8")
    numpy.save("a.npy", numpy.array([1, 2, numpy.nan], numpy.float32))
    numpy.save("b.npy", numpy.array([1, 5, numpy.nan], numpy.float32))
    for n, name in enumerate(["a.png", "b.png"]):
        pixels = numpy.random.default_rng(n).integers(0, 256, (48, 48, 3), numpy.uint8)
        image.imsave(name, pixels)
    places = [{"out": "asked"}, {"out": "printed"}] if question == "train" else [{}, {}]
    reply = in_json(qkv.ask(question, **given, **places[0]))
    expected = printed(question, {**given, **places[1]})
    for one, place in zip([reply, expected], places, strict=True):
        if question == "train":
            assert one.pop("out", None) in (None, place.get("out"))
    if question not in REFUSED and question != "train":  # which readers may not have in a place of theirs
        with served(tmp_path) as ask:
            require_served(ask, question, given, copy.deepcopy(expected))
    if question == "embed":
        assert in_floats(reply) == in_floats(expected)
    assert without_times(reply) == without_times(expected)


def test_a_page_is_that_of_the_command(tmp_path):
    request = {"model": "induction", "text": "abcxyzab"}
    words = [COMMAND, "view", "--text", "abcxyzab", "--export", tmp_path / "printed.html", "induction"]
    subprocess.run(words, check=True, capture_output=True)
    page = (tmp_path / "printed.html").read_text(encoding="utf-8")
    assert qkv.ask("view", **request)["page"] == page
    assert qkv.ask("view", **request, export=tmp_path / "asked.html") == {"export": str(tmp_path / "asked.html")}
    assert (tmp_path / "asked.html").read_text(encoding="utf-8") == page
    with pytest.raises(qkv.Error, match="view: model: cannot read ./none: No such file"):
        qkv.ask("view", model="./none")


class Hub(http.server.BaseHTTPRequestHandler):
    """A model with two files."""

    files = {"config.json": b"{}", "model.safetensors": b"weights"}

    def do_GET(self):
        name = self.path.rpartition("/")[2]
        body = self.files[name] if "/resolve/" in self.path else json.dumps(self.told()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def told(self):
        # As git names a file.
        hashes = {name: hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest() for name, body in self.files.items()}
        siblings = [{"rfilename": name, "size": len(body), "blobId": hashes[name]} for name, body in self.files.items()]
        return {"sha": "0" * 40, "siblings": siblings}

    def log_message(self, *_):
        pass


def test_what_is_fetched_is_what_the_command_fetches(tmp_path):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        request = {"name": "owner/name", "hub": f"http://127.0.0.1:{server.server_port}"}
        assert qkv.ask("fetch", **request, list=True) == printed("fetch", {**request, "list": True})
        asked = qkv.ask("fetch", **request, out=tmp_path / "asked")
        fetched = printed("fetch", {**request, "out": tmp_path / "printed"})
        server.shutdown()
    for place in ("folder", "model"):
        assert asked.pop(place) == str(tmp_path / "asked") and fetched.pop(place) == str(tmp_path / "printed")
    assert asked == fetched and asked["received"] == 9
    assert (tmp_path / "asked" / "model.safetensors").read_bytes() == b"weights"


def told_in(frames):
    """{kind: payload} of the frames of docs/studio.md."""
    told = {}
    while frames:
        kind, length = struct.unpack("<II", frames[:8])
        told[kind] = frames[8 : 8 + length]
        frames = frames[8 + (length + 7) // 8 * 8 :]
    return told


def sent(question, example):
    """The reply of a studio as it goes over the wire, with arrays for its tensors."""
    frames = []
    _models.Studio("", "").ask(question, example, lambda frame: frames.append(frame or b"") or True)
    return with_arrays(told_in(b"".join(frames)))


def with_arrays(told):
    assert 2 in told, told
    blocks = told.get(3, b"")

    def array_of(one):
        if set(one) != {"dtype", "shape", "at"}:
            return one
        types = {word: name for name, word in TYPES.items()}
        count = int(numpy.prod(one["shape"]))
        return numpy.frombuffer(blocks, types[one["dtype"]], count, one["at"]).reshape(one["shape"])

    return json.loads(told[2], object_hook=array_of)


@contextlib.contextmanager
def served(folder):
    """What a server in this folder answers, as {kind: payload}."""
    with subprocess.Popen(
        [COMMAND, "view", "--no-open"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        address = server.stdout.readline().strip()
        if not address:
            pytest.skip(server.stderr.read().strip())  # this build has no pages

        def ask(name, request):
            headers = {"Content-Type": "application/json"}
            asked = urllib.request.Request(f"{address}ask/{name}", json.dumps(request).encode(), headers)
            with urllib.request.urlopen(asked) as reply:
                return told_in(reply.read())

        yield ask
        server.terminate()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(tmp_path_factory.mktemp("served")) as ask:
        yield ask


def near(ours, theirs):
    """The same but for the rounding of f32: a model that is kept may add in another order."""
    if isinstance(ours, float | int) and isinstance(theirs, float | int) and not isinstance(ours, bool):
        return abs(ours - theirs) <= 2e-5 * max(1, abs(ours))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(near(one, theirs[name]) for name, one in ours.items())
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(near, ours, theirs))
    return ours == theirs


def require_served(ask, question, request, expected):
    """What the server answers is what the command prints."""
    name = next(one["name"] for one in TOLD if one["command"].replace(" ", "_") == question)
    reply = in_json(with_arrays(ask(name, request)))
    if question == "bench_variants":
        assert all(one.pop("bytes", 0) >= 0 for one in expected["results"])
    assert near(without_times(reply), without_times(expected)), (reply, expected)


@pytest.mark.parametrize(("question", "example"), [one for one in OF_COMMANDS if one[0] not in REFUSED])
def test_a_reply_over_http_is_that_of_the_command(question, example, server):
    request = json.loads(example)
    require_served(server, question, request, printed(question, request))


def test_a_server_says_which_command_writes(server):
    for question, what in REFUSED.items():
        told = next(one for one in TOLD if one["command"].replace(" ", "_") == question)
        said = json.loads(server(told["name"], {})[4])["message"]
        assert what in said and said.endswith(f"`qkv {told['command']}` does"), said


@pytest.mark.parametrize(("question", "example"), OF_PAGES)
def test_a_reply_is_that_of_the_studio(question, example):
    reply = in_json(qkv.ask(question, **json.loads(example)))
    assert reply == in_json(sent(question, example))


def test_each_command_has_a_question_or_none():
    listed = subprocess.run([COMMAND, "help", "--describe"], check=True, capture_output=True, text=True).stdout
    commands = {line[9:].strip("`") for line in listed.splitlines() if line.startswith("### `qkv ")}
    assert len(commands) > 20
    asked = [one["command"] for one in TOLD if one["command"]]
    assert sorted([*asked, *WITHOUT]) == sorted(commands)
    assert {name for name, *_ in _models.questions()} >= set(COMMANDS)
    fields = {name: {field for field, *_ in fields} for name, fields, _ in _models.questions()}
    assert all(set(json.loads(example)) <= fields[name] for name, example in ASKED)


def test_tensors_are_arrays_of_their_own():
    request = {"random": "1,1,1,8,8,4", "row": 3}
    row = qkv.ask("probe", **request)["arrays"]["row"]
    assert row.dtype == numpy.float32 and row.shape == (8,)
    row[:] = 0
    assert qkv.ask("probe", **request)["arrays"]["row"].any()


def test_a_list_may_be_one_text_as_on_the_command_line():
    one = "[[1]]"
    reply = qkv.ask("attend", q=one, k=one, v=one, results="out,lse")
    assert list(reply["arrays"]) == ["out", "lse"]
    with pytest.raises(ValueError, match='attend: results: expected out, lse, .*, got "ls"; did you mean lse?'):
        qkv.ask("attend", q=one, k=one, v=one, results="out,ls")
    runs = {"steps": 1, "layers": 1, "d_model": 8, "heads": 1, "batch": 1, "examples": 1, "train_length": 4}
    lengths = [qkv.ask("bench_positions", kinds="none", test_lengths=given, **runs) for given in ("4,8", [4, 8])]
    assert lengths[0].keys() == lengths[1].keys()
    with pytest.raises(ValueError, match='bench_positions: test_lengths: expected a whole number .*, got "x"'):
        qkv.ask("bench_positions", test_lengths="4,x")


def test_words_are_taken_in_any_case():
    small = qkv.ask("cost", preset="gpt3", dtype="bf16")
    assert qkv.ask("cost", preset="gpt3", dtype="BF16") == small
    with pytest.raises(ValueError, match='dtype: expected f64, f32, f16 or bf16, got "BF17"; did you mean bf16'):
        qkv.ask("cost", preset="gpt3", dtype="BF17")


def test_scalars_of_numpy_are_those_of_python():
    given = {"preset": "gpt2", "causal": numpy.bool_(True), "tokens": numpy.int32(5)}
    assert qkv.ask("cost", **given) == qkv.ask("cost", preset="gpt2", causal=True, tokens=5)
    with pytest.raises(TypeError, match=r"^cost: tokens: expected a whole number.*, got \[1\]$"):
        qkv.ask("cost", preset="gpt2", tokens=[1])


def test_a_word_of_python_has_two_names():
    asked = {"preset": "gpt3", "to": 400, "of": "flops"}
    assert qkv.ask("cost", **asked, **{"from": 200}) == qkv.ask("cost", **asked, first=200)
    assert qkv.ask("cost", **asked, first=200) != qkv.ask("cost", **asked)
    with pytest.raises(ValueError, match="cost: first: expected it once, got it by both of its names"):
        qkv.ask("cost", **asked, first=200, **{"from": 200})


ENDLESS = "a" * 5_000_000


def test_what_is_wrong_names_the_argument(tmp_path):
    for question, given, error, message in [
        ("costs", {}, ValueError, 'ask: question: expected one of about, .*, got "costs"; did you mean cost?'),
        ("cost", {"colour": 1}, TypeError, "cost: there is no field colour"),
        ("analyze", {"line": "a"}, TypeError, r"^analyze: there is no field line; did you mean texts\?$"),
        ("cost", {"tokens": "many"}, TypeError, "cost: tokens: expected a whole number from 1 .*, got 'many'"),
        ("cost", {"tokens": True}, TypeError, "cost: tokens: expected a whole number from 1 .*, got True"),
        ("cost", {"tokens": 0}, ValueError, "cost: tokens: expected a whole number from 1 to .*, got 0"),
        ("cost", {"gated": 1}, TypeError, "cost: gated: expected true or false, got 1"),
        ("cost", {}, ValueError, "cost: preset: expected one of transformer-base"),
        ("lens", {"text": "abc"}, ValueError, "lens: model: expected a value, got none"),
        ("lens", {"model": "gpt", "text": ENDLESS}, ValueError, "lens: text: expected at most about .* got 5000000"),
        ("lens", {"model": "induction", "text": ENDLESS}, ValueError, "of at most 32 tokens, .* got 5000000 bytes"),
        ("attend", {"results": ["out", "out"]}, ValueError, 'attend: results: expected each word once, got "out"'),
        ("cost", {"tokens": 10**30}, ValueError, "cost: tokens: expected a whole number .*, got 1" + "0" * 30),
        ("generate", {"model": "gpt", "top_p": float("nan")}, ValueError, "generate: top_p: expected a finite number"),
        ("analyze", {"model": "induction", "syntax": "english", "importance": 4}, ValueError, "expected it without `"),
        ("mask", {"mask": "cuasal"}, ValueError, "mask: mask: column 1"),
        ("lens", {"model": tmp_path, "text": "abc"}, qkv.Error, str(tmp_path)),
    ]:
        with pytest.raises(error, match=message):
            qkv.ask(question, **given)


def test_a_field_with_two_names_is_called_as_it_was_given():
    for name in ("start", "from"):
        with pytest.raises(ValueError, match=f"^train: {name}: expected `task` text beside it, got copy"):
            qkv.ask("train", task="copy", **{name: "gpt"})
    with pytest.raises(ValueError, match="^train: store: expected f32, bf16 or f16, got .f8"):
        qkv.ask("train", task="copy", store="f8")
    with pytest.raises(TypeError, match="^train: there is no field stored; did you mean store[?]$"):
        qkv.train("copy", stored="f16")


def test_numbers_stand_for_texts_that_are_numbers():
    def out_of(reply):
        return [*reply.values()][-1]["out"].tolist()

    q, k = numpy.array([[1, 0.1], [0, 1]]), numpy.array([[1, 0], [0.3, 1]], dtype=numpy.float32)
    options = {"v": [[1], [2]], "results": ["out"]}
    given = qkv.ask("attend", q=q, k=k, kv_lengths=[2], window=2, sinks=[0.5], **options)
    texts = {"q": "[[1,0.1],[0,1]]", "k": "[[1,0],[0.30000001192092896,1]]", "v": "[[1],[2]]"}
    written = qkv.ask("attend", **{**options, **texts}, kv_lengths="2", window="2", sinks="0.5")
    assert out_of(given) == out_of(written)
    hidden = qkv.ask("attend", q=q, k=k, mask_file=numpy.array([[True, False], [True, True]]), **options)
    added = qkv.ask("attend", q=q, k=k, bias_file=[[0, -numpy.inf], [0, 0]], **options)
    assert out_of(hidden) == out_of(added)
    assert qkv.ask("tokens", tokenizer="english", ids=[7, 8]) == qkv.ask("tokens", tokenizer="english", ids="7 8")
    bench = qkv.ask("bench", q=[[1, 0], [0, 1]], k=numpy.eye(2), v=[[1, 0], [0, 1]])
    assert bench["title"] == "Your own numbers"
    asked = {"model": "induction", "text": "abcxyzab"}
    assert qkv.ask("lens", **asked, query=1)["place"] == qkv.ask("lens", **asked, query="1")["place"]
    for name, wrong in [("q", {"a": 1}), ("q", ["1"]), ("q", [[1, "x"]]), ("k", numpy.array(["a"]))]:
        with pytest.raises(TypeError, match=f"^attend: {name}: expected numbers in lists, or a text, such as .*, got"):
            qkv.ask("attend", **{**options, **texts, name: wrong})
    with pytest.raises(ValueError, match="^attend: q: expected at most 16777216 numbers, or a file, got 16777217$"):
        qkv.ask("attend", **{**options, **texts, "q": numpy.broadcast_to(numpy.float32(0), (1, 2**24 + 1))})


def test_an_empty_list_is_refused_where_it_would_be_the_default():
    with pytest.raises(ValueError, match="^analyze: sites: expected one or more, or to be left out, got "):
        qkv.ask("analyze", model="induction", sites=[])
    from qkv import insight

    assert inspect.signature(insight.heads).parameters["sites"].default is None


def test_functions_tell_the_fields_of_their_questions():
    from qkv import insight

    parameters = inspect.signature(insight.heads).parameters
    own = ["model", "texts", "dtype", "count", "pictures", "sounds", "chat", "system", "sites", "importance", "seed"]
    assert list(parameters) == own
    assert parameters["count"].default == 64 and parameters["importance"].default == 16
    assert "importance          Measure the loss without each head" in inspect.getdoc(insight.heads)
    generate = inspect.signature(qkv.Model.generate).parameters
    assert generate["tokens"].default == 64 and generate["top_p"].default == 1.0 and generate["stop"].default == ()
    assert inspect.signature(qkv.train).parameters["store"].annotation == "Literal['f32', 'bf16', 'f16']"
