"""Models of the box, of files and of folders."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack, overload

from qkv import _models, _pictures
from qkv._asked import takes
from qkv._given import list_of, path_of, texts_of
from qkv._tokenizer import Tokenizer, require_opened
from qkv._trace import Trace, edits_of, require_kept

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy
    from numpy.typing import NDArray

    from qkv._fields import EmbedFields, GenerateFields
    from qkv._widget import Live


class Written(NamedTuple):
    """What a model wrote after a prompt: its text, without prompt, end and stop; the tokens; and what ended it.

    end is "token" (one that ends texts), "stop", "length" (as many tokens as asked for) or "positions" (as many as the
    model has).
    """

    text: str
    tokens: list[int]
    end: str


class Match(NamedTuple):
    """Images and texts held against each other by two towers.

    images float32 [I, d] and texts float32 [T, d], of length 1; cosines, scores and probabilities float64 [I, T].
    """

    images: NDArray[numpy.float32]
    texts: NDArray[numpy.float32]
    cosines: NDArray[numpy.float64]
    scores: NDArray[numpy.float64]
    probabilities: NDArray[numpy.float64]


class Gap(NamedTuple):
    """A masked token: its place among the tokens, and (piece, probability) of what it may be, the likeliest first."""

    place: int
    fillings: list[tuple[str, float]]


def require_text(text: object) -> None:
    if text is not None and not isinstance(text, str):
        raise TypeError(f"Model: text: expected a str, got {type(text).__name__}")


class Model:
    """A trained transformer: a decoder, encoder, encoder-decoder, captioner, two towers, image encoder or transcriber.

    Open one with Model.open(). What a call reads: `text`, a str; or `ids`, whole numbers, of a decoder or encoder; or
    `example`, the number of a held-out example of the model's task; or `image`, uint8 [H, W, 3], beside or in place of
    a text. `answer=N` adds N tokens that the model writes, the likeliest. Calls free the GIL. Ctrl-C ends a pass
    between two blocks. Any number of threads may call one model.
    """

    def __init__(self, model: _models.Model) -> None:
        require_opened("Model", model, _models.Model)
        self._model = model

    @classmethod
    def open(cls, name: str | os.PathLike[str], *, dtype: Literal["f32", "f64", "file"] = "f32") -> Model:
        """A model of the box ("induction"; qkv.models() lists them), a file that qkv wrote or of GGUF, or a folder.

        dtype: what it computes in. Quantised weights become f32 or f64, too; with "file" they stay as they lie there,
        and activations are of 8 bits. Raises qkv.Error naming what is missing in it, and where f32 needs more memory
        than there is.
        """
        return cls(_models.Model.open(path_of("open", "name", name), dtype))

    @property
    def name(self) -> str:
        """The name or path that it was opened by."""
        return self._model.name

    @property
    def path(self) -> str:
        """The file or folder that it lies in."""
        return self._model.path

    @property
    def kind(self) -> str:
        """ "decoder", "encoder", "encoder-decoder", "captioner", "two-tower", "image-encoder" or "transcriber"."""
        return self._model.kind

    @property
    def task(self) -> str | None:
        """The task that it learnt, one of qkv.tasks(), or None."""
        return self._model.task or None

    @property
    def config(self) -> dict[str, str]:
        """Its sizes and choices in words, as its file says them."""
        return self._model.config

    @property
    def parameter_count(self) -> int:
        """How many numbers it learnt."""
        return self._model.parameter_count

    def parameters(self) -> dict[str, NDArray[Any]]:
        """Its parameters by name, copied, in the element type of the file (bfloat16 is that of ml_dtypes)."""
        return self._model.parameters()

    @property
    def tokenizer(self) -> Tokenizer:
        """What cuts the texts that it says tokens of."""
        return Tokenizer(self._model.tokenizer)

    def __call__(
        self,
        text: str | None = None,
        *,
        ids: Sequence[int] | NDArray[Any] | None = None,
        example: int | None = None,
        image: NDArray[numpy.uint8] | None = None,
        answer: int | None = None,
    ) -> NDArray[Any]:
        """What the model says: scores of tokens [T, vocabulary], before a softmax.

        Of an encoder without an output map its last states [T, d_model]; of two towers the vector [d] of the text or
        the image, of length 1; of a model of images alone its scores of classes [classes], or its states. float32, or
        float64 where the parameters are. Raises ValueError for what it does not read.
        """
        require_text(text)
        return self._model.call(text, ids, example, image, answer)

    def trace(
        self,
        text: str | None = None,
        *,
        keep: Sequence[str] | str | None = None,
        edit: Mapping[str | tuple[str, tuple[int, ...]], Callable[[NDArray[Any]], Any]] | None = None,
        ids: Sequence[int] | NDArray[Any] | None = None,
        example: int | None = None,
        image: NDArray[numpy.uint8] | None = None,
        answer: int | None = None,
    ) -> Trace:
        """Runs the model and keeps what ran: a Trace of values by the names of docs/trace.md.

        keep  names or patterns ("blocks.*.attn.q", "logits"); everything if None. `*` is any run of characters.
        edit  functions by the name or pattern of the value that they replace: called with a copy of it as an array,
              they give one of the same shape. The rest of the pass reads what they give. A matrix of heads,
              "blocks.1.attn.weights" or "….masked", comes one head at a time as [1, 1, Tq, Tk];
              ("blocks.1.attn.weights", (0, 2)) are some heads alone. What a function raises is raised as it is.

        Raises ValueError for a pattern that meets no value, and for an edit of another shape.
        """
        require_text(text)
        patterns = None if keep is None else texts_of("trace", "keep", keep)
        run = _models.run(self._model, patterns, edits_of(edit or {}), text, ids, example, image, answer)
        require_kept(patterns or [], run)
        reading = text if text is not None else example
        return Trace(run, self, reading, bool(edit))

    @overload
    def generate(
        self,
        prompt: str | None = None,
        *,
        on_text: Callable[[str], object] | None = None,
        **drawing: Unpack[GenerateFields],
    ) -> Written: ...
    @overload
    def generate(
        self,
        prompt: list[str] | tuple[str, ...],
        *,
        on_text: Callable[[int, str], object] | None = None,
        **drawing: Unpack[GenerateFields],
    ) -> list[Written]: ...
    @takes("generate")
    def generate(
        self,
        prompt: str | Sequence[str] | None = None,
        *,
        on_text: Callable[..., object] | None = None,
        **drawing: Unpack[GenerateFields],
    ) -> Written | list[Written]:
        """What the model writes after a prompt, or in answer to it; of several prompts a list.

        The options are those of `qkv generate`, with its bounds; a `stop` may be a special token. With chat=True it
        answers `user` or the `messages` of a conversation. `on_text` is told each part as it is certain:
        on_text(part), of several prompts on_text(n, part). What it raises ends the call.
        """
        is_one = prompt is None or isinstance(prompt, str)
        said = _without_number(on_text) if is_one and on_text is not None else on_text
        placed: dict[str, object] = {"model": self.path, "text" if is_one else "texts": prompt}
        texts = [Written(*one) for one in _models.generate(self._model, placed, {**drawing}, said)]
        return texts[0] if is_one else texts

    def stream(self, prompt: str | None = None, **drawing: Unpack[GenerateFields]) -> Iterator[str]:
        """The parts of what generate(prompt, …) writes, as they come. A loop that is left ends the writing."""
        parts: queue.SimpleQueue[Any] = queue.SimpleQueue()
        is_left = threading.Event()

        def tell(part: str) -> None:
            if is_left.is_set():
                raise _Left
            parts.put(part)

        def write() -> None:
            try:
                self.generate(prompt, on_text=tell, **drawing)
                parts.put(None)
            except BaseException as error:  # it is raised where the parts are read
                parts.put(error)

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        try:
            while (part := parts.get()) is not None:
                if isinstance(part, BaseException):
                    raise part
                yield part
        finally:
            is_left.set()
            writer.join()

    @takes("embed")
    def embed(self, texts: str | Sequence[str], **given: Unpack[EmbedFields]) -> NDArray[numpy.float32]:
        """Texts as vectors, float32 [texts, d]; of one text [d].

        normalise=False leaves out the folder's own normalisation, too. A text that is longer than the folder's
        max_seq_length is cut there, with a warning. Of two towers the text's vector.
        """
        vectors = _models.embed(self._model, {"model": self.path, "texts": texts}, {**given})
        return vectors[0] if isinstance(texts, str) else vectors

    def match(self, images: Sequence[NDArray[numpy.uint8]], texts: Sequence[str]) -> Match:
        """Holds images, uint8 [H, W, 3] of any sizes, against texts: a Match. Of two towers alone."""
        pictures = list_of("match", "images", images, "a list of images")
        names = [f"images[{n}]" for n in range(len(pictures))]
        placed: dict[str, object] = {"model": self.path, "images": names, "captions": texts}
        return Match(*_models.match(self._model, pictures, placed))

    def fill(self, text: str, count: int | None = None) -> list[Gap]:
        """What the gaps of a text may be ([MASK], <mask>; of english <be>), by an encoder: a Gap each.

        count is the number of its fillings, 5.
        """
        said = _models.fill(self._model, {"model": self.path, "text": text, "count": count})
        return [
            Gap(one["place"], [(filling["piece"], filling["probability"]) for filling in one["fillings"]])
            for one in said["masks"]
        ]

    @overload
    def show(
        self, text: str | None = None, *, example: int | None = None, height: int = 720, live: Literal[True]
    ) -> Live: ...
    @overload
    def show(
        self, text: str | None = None, *, example: int | None = None, height: int = 720, live: Literal[False]
    ) -> _pictures.Page: ...
    @overload
    def show(
        self, text: str | None = None, *, example: int | None = None, height: int = 720, live: bool | None = None
    ) -> _pictures.Page | Live: ...
    def show(
        self, text: str | None = None, *, example: int | None = None, height: int = 720, live: bool | None = None
    ) -> _pictures.Page | Live:
        """The studio's page of this model and text, in the cell.

        live=True: a widget that the engine of this process answers, whose `address` Python reads and sets. It needs
        anywidget. live=False: a Page, one file without a server. None: the widget in a notebook with anywidget. Of no
        text the model's first example. height is in pixels. Raises qkv.Error where this build has no pages.
        """
        if text is not None and example is not None:
            raise ValueError("show: text: expected a text or an example, got both")

        def saved() -> _pictures.Page:
            return _pictures.model_page(self.name, text, example, height)

        module = _pictures.widgets(live)
        if module is None:
            return saved()
        return _pictures.live_page(module, self.name, "heads", {"text": text, "example": example}, height, saved)

    def __repr__(self) -> str:
        task = f", task {self.task!r}" if self.task else ""
        return f"qkv.Model({self.name!r}: {self.kind}, {self.parameter_count:,} parameters{task})"

    def _repr_html_(self) -> str:
        rows = {"kind": self.kind, "parameters": f"{self.parameter_count:,}", **self.config}
        return _pictures.table_html(self.name, rows)


def _without_number(on_text: Callable[[str], object]) -> Callable[[int, str], object]:
    return lambda _, part: on_text(part)


class _Left(Exception):
    """The reader of a stream has gone."""


def models() -> list[str]:
    """The names of the models in the box."""
    return _models.model_names()
