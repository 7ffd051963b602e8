"""The live page: what its frame and the kernel say to each other."""

import importlib
import json
import struct
import sys
import threading
import time

import numpy
import pytest

import qkv
from qkv import insight

widget = pytest.importorskip("qkv._widget", reason="anywidget is not installed")

PROGRESS, REPLY, BLOCKS, ERROR = 1, 2, 3, 4


class Frame:
    """The side of the browser: what qkv._widget.js sends and hears."""

    def __init__(self, live, name="a view"):
        self.live, self.name, self.heard = live, name, []
        self.told = threading.Condition()
        live.send = self.hear

    def hear(self, message, buffers=None):
        with self.told:
            self.heard.append((message, [bytes(buffer) for buffer in buffers or []]))
            self.told.notify_all()

    def say(self, **message):
        self.live._handle_custom_msg({"view": self.name, **message}, [])

    def answer(self, id):
        """The frames of a reply, (kind, payload), and how it ended."""

        def ended():
            return [m for m, _ in self.heard if m.get("id") == id and ("done" in m or "failed" in m)]

        with self.told:
            assert self.told.wait_for(ended, timeout=60)
        data = b"".join(b for m, buffers in self.heard if m.get("id") == id for b in buffers)
        frames = []
        while data:
            kind, length = struct.unpack_from("<II", data)
            frames.append((kind, data[8 : 8 + length]))
            data = data[8 + (length + 7) // 8 * 8 :]
        return frames, ended()[0]

    def ask(self, id, name, **fields):
        self.say(id=id, name=name, body=json.dumps(fields))
        return self.answer(id)


@pytest.fixture(scope="module")
def induction():
    return qkv.Model.open("induction")


@pytest.fixture
def live(induction):
    return induction.trace("abcxyzab").show(live=True, height=500)


def test_it_opens_where_the_trace_is(live, induction):
    assert (live.address, live.height) == ("/heads?model=induction&text=abcxyzab", 500)
    assert live.page == "heads" and live.fields == {"model": "induction", "text": "abcxyzab"}
    assert induction.show(example=3, live=True).fields == {"model": "induction", "example": "3"}
    assert repr(live) == "qkv.Live('/heads?model=induction&text=abcxyzab')"


def test_the_engine_of_this_process_answers(live, induction):
    frame = Frame(live)
    frames, end = frame.ask(1, "head", model="induction", text="abcxyzab", site="tokens", layer=1, head=0)
    assert end == {"view": "a view", "id": 1, "done": True}
    reply, blocks = json.loads(dict(frames)[REPLY]), dict(frames)[BLOCKS]
    weights = reply["weights"]
    rows, columns = weights["shape"]
    given = numpy.frombuffer(blocks, weights["dtype"].replace("f", "<f").replace("32", "4").replace("64", "8"),
                             rows * columns, weights["at"]).reshape(rows, columns)  # fmt: skip
    wanted = induction.trace("abcxyzab").probe("blocks.1.attn").weights(0)
    numpy.testing.assert_allclose(given, wanted, rtol=1e-6, atol=1e-9)


def test_a_probe_is_shown_from_afar():
    random = numpy.random.default_rng(0)
    q, k = random.standard_normal((2, 1, 3, 700, 16), dtype=numpy.float32)
    probe = qkv.Probe(q, k, mask="causal")
    names = [f"w{n}" for n in range(700)]
    live = probe.show(h=2, rows=names, columns=names, title="mine")
    assert live.address == "/far?head=tokens.0.2"
    del probe, q, k  # the page keeps what it reads
    frame = Frame(live)
    opened = json.loads(dict(frame.ask(1, "far_open", head=2)[0])[REPLY])
    assert (opened["title"], opened["heads"], opened["keys"], opened["mask"]) == ("mine, head 2", 3, 700, "causal")
    row = json.loads(dict(frame.ask(2, "far_row", head=2, query=500, count=1)[0])[REPLY])
    q, k = numpy.random.default_rng(0).standard_normal((2, 1, 3, 700, 16), dtype=numpy.float32)
    weights = qkv.Probe(q, k, mask="causal").row(500, 2)
    assert row["top"][0]["word"] == f"w{weights.argmax()}"
    assert row["top"][0]["weight"] == pytest.approx(float(weights.max()), rel=1e-5)
    with pytest.raises(ValueError, match="show: rows: expected 700 names, got 1"):
        qkv.Probe(q, k).show(rows=["one"])
    with pytest.raises(ValueError, match="show: h: expected 0 to 2, got 3"):
        qkv.Probe(q, k).show(3)


def test_what_is_wrong_is_said_as_a_frame(live):
    frames, end = Frame(live).ask(1, "head", model="induction", text="abc", layer=7)
    assert [kind for kind, _ in frames] == [ERROR] and end["done"]
    assert json.loads(frames[0][1])["field"] == "layer"


def test_several_questions_are_answered_at_once(live):
    frame = Frame(live)
    for id in range(8):
        frame.say(id=id, name="mask", body=json.dumps({"mask": "causal", "tq": 8 + id, "tk": 8 + id}))
    for id in range(8):
        frames, _ = frame.answer(id)
        assert json.loads(dict(frames)[REPLY])["tq"] == 8 + id


@pytest.mark.parametrize("last", [{"id": 1, "cancel": True}, {"closed": True}], ids=["cancel", "closed"])
def test_a_question_that_nobody_waits_for_ends(live, last):
    frame = Frame(live)
    frame.say(id=1, name="far_walk", body=json.dumps({"tokens": 1 << 17}))
    deadline = time.monotonic() + 60
    while not frame.heard and time.monotonic() < deadline:  # until it says how far it is
        time.sleep(0.01)
    frame.say(**last)
    frames, end = frame.answer(1)
    assert end["done"] and frames and {kind for kind, _ in frames} == {PROGRESS}
    assert live._waiting == {}


def test_the_page_opens_at_the_address(live):
    frame = Frame(live)
    live.address = "/step?text=</script>"
    try:
        frame.say(open=True)
    except qkv.Error as error:
        pytest.skip(str(error))
    [(message, _)] = frame.heard
    page = message["page"]
    assert message["view"] == "a view" and page.lower().startswith("<!doctype html>")
    assert 'id="starts">["#/step?text=\\u003c/script>"]</script>' in page
    assert '{"where":"qkv in this notebook\'s kernel"}' in page


def test_python_moves_the_page_and_follows_the_reader(live):
    seen = []
    live.observe(lambda change: seen.append(change.new), "address")
    live.go(head="tokens.0.0", q=3)
    assert live.address == "/heads?model=induction&text=abcxyzab&head=tokens.0.0&q=3"
    live.go(text=None, example=2)
    assert live.fields == {"model": "induction", "head": "tokens.0.0", "q": "3", "example": "2"}
    live.go("patterns/mask", mask="causal & window(4)")
    assert live.page == "patterns/mask" and live.fields == {"mask": "causal & window(4)"}
    live.set_state({"address": "/step?text=the+c%C3%A4t&Q=1,0;0,1"})  # as the page tells it
    assert live.page == "step" and live.fields == {"text": "the cät", "Q": "1,0;0,1"}
    assert len(seen) == 4


def test_what_is_found_is_shown(induction):
    heads = insight.heads(induction, ["abcabc", "xyzxyz"], importance=0).show()
    assert heads.page == "roles" and heads.fields == {"model": "induction", "texts": "abcabc\nxyzxyz"}
    changed = insight.change("induction", "abcxyzb", ["remove 1.0", "freeze norms"], query="b").show(height=300)
    fields = {"model": "induction", "text": "abcxyzb", "query": "b", "changes": "remove 1.0; freeze norms"}
    assert (changed.page, changed.fields, changed.height) == ("roles", fields, 300)
    frames, _ = Frame(changed).ask(
        1, "change", model="induction", text="abcxyzb", changes=["remove 1.0", "freeze norms"]
    )
    assert REPLY in dict(frames)
    with pytest.raises(ValueError, match="save: this page asks the engine"):
        changed.save("page.html")


def test_what_the_page_cannot_ask_is_not_shown():
    another = insight.change("induction", None, "patch blocks.1@5", example=1, from_example=0)
    seen = insight.change("shapes", None, "remove 0.0", picture=numpy.zeros((8, 8, 3), numpy.uint8))
    for one in (another, seen):
        with pytest.raises(qkv.Error, match="takes texts as they are"):
            one.show()


def test_masks_are_shown():
    mask = qkv.Mask("causal & window(4)")
    assert mask.show(64, 32, live=True).address == "/patterns/mask?mask=causal+%26+window(4)&tq=64&tk=32"
    with pytest.raises(ValueError, match="show: expected a mask whose text says it all, got dense"):
        qkv.Mask(numpy.ones((16, 16), bool)).show()


def test_a_live_page_saves_the_file(live, tmp_path):
    try:
        live.save(str(tmp_path / "page.html"))
    except qkv.Error as error:
        pytest.skip(str(error))
    assert "abcxyzab" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_without_anywidget_there_is_the_page(induction, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "qkv._widget")
    monkeypatch.setitem(sys.modules, "ipykernel", importlib.import_module("json"))  # as in a notebook
    with pytest.raises(ImportError, match="show: live=True needs anywidget: pip install anywidget"):
        induction.show("abc", live=True)
    try:
        assert isinstance(induction.show("abc"), qkv.Page)
    except qkv.Error as error:
        pytest.skip(str(error))
