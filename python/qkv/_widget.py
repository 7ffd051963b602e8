"""The studio's page in a cell, live: the engine of this process answers what it asks. Needs anywidget."""

# ipywidgets leaves some types of its own open.
# pyright: reportUnknownMemberType=false
from __future__ import annotations

import concurrent.futures
import functools
import json
import pathlib
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote_plus

import anywidget
import traitlets

from qkv import _pictures

if TYPE_CHECKING:
    from collections.abc import Callable

    from qkv import _models

READABLE = ",;:/@()!*'"  # characters that need no escape in an address


class Live(anywidget.AnyWidget):
    """The studio's page, answered by the engine of this process: any model, any length.

    `address` is where the reader is, as the page's own address has it: "/heads?model=induction&text=abc&q=2". It
    follows the reader, and what is set moves the page; observe(f, "address") tells of each move. `page` and `fields`
    are its parts, and go() sets some of them. `height` is in pixels.
    """

    _esm = pathlib.Path(__file__).with_name("_widget.js")
    address = traitlets.Unicode("").tag(sync=True)
    height = traitlets.Int(720).tag(sync=True)

    def __init__(
        self, engine: _models.Studio, address: str, height: int, saved: Callable[[], _pictures.Page] | None = None
    ) -> None:
        self._engine = engine
        self._saved = saved
        self._waiting: dict[tuple[str, int], threading.Event] = {}
        self._lock = threading.Lock()
        super().__init__(address=address, height=height)
        self.on_msg(self._heard)

    @property
    def page(self) -> str:
        """The page of the studio that is shown: "heads", "step", "roles", …"""
        return self.address.partition("?")[0].strip("/")

    @property
    def fields(self) -> dict[str, str]:
        """What is chosen on the page, by the names of its address: text, head, q (the query) and so on."""
        return dict(parse_qsl(self.address.partition("?")[2], keep_blank_values=True))

    def go(self, page: str | None = None, **fields: object) -> None:
        """Moves to another page with these fields; or, on the same page, sets these: None takes one out."""
        chosen = dict(fields) if page is not None else {**self.fields, **fields}
        self.address = address_of(page if page is not None else self.page, chosen)

    def save(self, path: str) -> None:
        """Writes the page as one file that any browser opens, as `qkv view --export` does.

        Raises ValueError for a page that cannot stand without this process.
        """
        if self._saved is None:
            raise ValueError("save: this page asks the engine of this process; a file cannot")
        self._saved().save(path)

    def _heard(self, _: Any, message: dict[str, Any], buffers: list[Any]) -> None:
        view = str(message["view"])
        if "open" in message:
            self.send({"view": view, "page": frame_page(self.address)})
        elif "closed" in message:
            self._drop(lambda key: key[0] == view)
        elif "cancel" in message:
            self._drop(lambda key: key == (view, message["id"]))
        else:
            gone = threading.Event()
            with self._lock:
                self._waiting[view, message["id"]] = gone
            workers().submit(self._answer, view, message["id"], message["name"], message["body"], gone)

    def _drop(self, is_meant: Callable[[tuple[str, int]], bool]) -> None:
        with self._lock:
            for key, gone in self._waiting.items():
                if is_meant(key):
                    gone.set()

    def _answer(self, view: str, id: int, name: str, body: str, gone: threading.Event) -> None:
        to = {"view": view, "id": id}

        def hear(frame: bytes | None) -> bool:
            if not gone.is_set() and frame is not None:
                self.send(to, [frame])
            return not gone.is_set()

        try:
            if hear(None):
                self._engine.ask(name, body, hear)
            self.send({**to, "done": True})
        except Exception as error:
            self.send({**to, "failed": f"The kernel did not answer: {error}"})
        finally:
            with self._lock:
                self._waiting.pop((view, id), None)

    def __repr__(self) -> str:
        return f"qkv.Live({self.address!r})"


@functools.cache
def workers() -> concurrent.futures.ThreadPoolExecutor:
    """As many questions at once as the server of `qkv view` answers."""
    return concurrent.futures.ThreadPoolExecutor(16, thread_name_prefix="qkv")


@functools.cache
def pages() -> str:
    return _pictures.exported(["view", "--frame", _pictures.FILE])


def frame_page(address: str) -> str:
    """The page that opens at an address. It says who answers it."""
    starts = json.dumps([f"#{address}"] if address else []).replace("<", "\\u003c")
    page = pages().replace('id="starts">[]<', f'id="starts">{starts}<', 1)
    return page.replace("qkv behind this frame", "qkv in this notebook's kernel", 1)


def address_of(page: str, fields: dict[str, Any]) -> str:
    """ "/heads?model=induction&text=abc"; a field that is None is left out."""
    named = {name: str(value) for name, value in fields.items() if value is not None}
    words = "&".join(f"{name}={quote_plus(value, safe=READABLE)}" for name, value in named.items())
    return f"/{page}?{words}" if words else f"/{page}"
