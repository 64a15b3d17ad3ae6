"""Convert texts to tokens with the ``tokenizer.json`` of a model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py_autodoc.errors import InputError, OptionError, RequirementError
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.limits import TOKENIZER_FILE, Bounds
from py_autodoc.option_files import parsed_json, read_json, read_text
from py_autodoc.runner.texts import Text

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

FILE = "tokenizer.json"
_HINT = f"Pass the {FILE} of a fast tokenizer; save_pretrained of transformers writes it."
_VOCABULARY = Bounds(values=20_000_000)
_PADS = ("[PAD]", "<pad>", "<|pad|>", "<|endoftext|>", "</s>", "<unk>")
"""Common padding tokens, most likely first, for a file that does not name one."""
_LONGEST = 1_000_000
"""transformers uses larger numbers for an unknown length."""


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """The tokens of a sample."""

    ids: list[int]
    types: list[int]
    cut: bool = False
    """True if the text was truncated."""


def find_tokenizer(model: PathLike, tokenizer: PathLike | None = None) -> Path:
    """Return the tokenizer file: the given one, the one in a given folder, or the one next to the model.

    Raises: OptionError: there is none.
    """
    if tokenizer is not None:
        path = Path(tokenizer)
        return path / FILE if path.is_dir() else path
    default = Path(os.fspath(model)).parent / FILE
    if not default.is_file():
        raise OptionError(
            "tokenizer-missing",
            f"Text needs a tokenizer, but there is no {FILE} next to {base_name(model)}.",
            "Pass it with --tokenizer FILE; save_pretrained of transformers writes it.",
        )
    return default


class TextTokenizer:
    """A tokenizer of the library ``tokenizers``.

    Args:
        file: a ``tokenizer.json``.

    Raises:
        RequirementError: ``tokenizers`` is not installed.
        PathError: no such file.
        InputError: it is not a tokenizer.
    """

    def __init__(self, file: PathLike) -> None:
        self.name = base_name(file)[:200]
        self._tokenizer = _loaded(Path(file), self.name)
        padding: dict[str, Any] = self._tokenizer.padding or {}
        truncation: dict[str, Any] = self._tokenizer.truncation or {}
        config = _config(Path(file).parent / "tokenizer_config.json")
        padding_side = padding.get("direction") or config.get("padding_side")
        self.pads_left = padding_side == "left"
        """True if texts are padded on the left, as for decoders."""
        self._cut_left = (truncation.get("direction") or config.get("truncation_side")) == "left"
        self.pad_type = int(padding.get("pad_type_id", 0))
        pad_ids = (
            self._tokenizer.token_to_id(token)
            for token in (_content(config.get("pad_token")), *_PADS)
            if token
        )
        first = next((pad_id for pad_id in pad_ids if pad_id is not None), 0)
        self.pad = int(padding.get("pad_id", first))
        lengths = (truncation.get("max_length"), config.get("model_max_length"))
        limits = [
            int(length) for length in lengths if isinstance(length, (int, float)) and 0 < length < _LONGEST
        ]
        self.longest = min(limits, default=None)
        """Maximum number of tokens of the model; None if no file contains it."""
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def encode(self, texts: Sequence[Text], length: int | None = None) -> list[TokenizedText]:
        """Return the tokens of texts, including special tokens; at most ``length`` of them.

        Raises: InputError: ``length`` is less than the special tokens; the tokenizer is inconsistent.
        """
        with _faults(self.name):
            tokens = [
                _tokens(encoding)
                for encoding in self._tokenizer.encode_batch([_tokenizer_input(text) for text in texts])
            ]
        if length is None:
            return tokens
        long = [index for index, row in enumerate(tokens) if len(row.ids) > length]
        if long:
            cut_side = "left" if self._cut_left else "right"
            for index, shorter in zip(
                long, self._shortened([texts[index] for index in long], length, cut_side), strict=True
            ):
                tokens[index] = shorter
        return tokens

    def _shortened(self, texts: Sequence[Text], length: int, cut_side: str) -> list[TokenizedText]:
        special = max(self._tokenizer.num_special_tokens_to_add(text.pair is not None) for text in texts)
        if special >= length:
            # The library would not truncate such texts.
            raise InputError(
                "text-too-short",
                f"{self.name} adds {special} special tokens to a text; the model takes {length} in total.",
                "Set the length with --bind or --input-shape.",
            )
        with _faults(self.name):
            self._tokenizer.enable_truncation(length, direction=cut_side)
            try:
                encodings = self._tokenizer.encode_batch([_tokenizer_input(text) for text in texts])
            finally:
                self._tokenizer.no_truncation()
        return [
            TokenizedText(list(encoding.ids), list(encoding.type_ids), cut=True) for encoding in encodings
        ]


def _tokenizer_input(text: Text) -> str | tuple[str, str]:
    return text.text if text.pair is None else (text.text, text.pair)


def _tokens(encoding: Encoding) -> TokenizedText:
    return TokenizedText(list(encoding.ids), list(encoding.type_ids))


def _loaded(file: Path, name: str) -> Tokenizer:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise RequirementError(
            "needs-tokenizers",
            "Text needs the package tokenizers, which is not installed.",
            "pip install tokenizers",
        ) from None
    text = read_text(file, TOKENIZER_FILE)
    if not isinstance(parsed_json(text, name, TOKENIZER_FILE, _VOCABULARY, _HINT), dict):
        raise InputError("bad-tokenizer", f"{name} is not a tokenizer.", _HINT)
    with _faults(name):
        return Tokenizer.from_str(text)


@contextmanager
def _faults(name: str) -> Iterator[None]:
    """Convert exceptions of the library to an InputError.

    The library raises ``Exception`` itself if it cannot read a file. For an inconsistent file (a special
    token missing in its vocabulary) it panics with a subclass of ``BaseException``.
    """
    try:
        yield
    except BaseException as fault:
        if not isinstance(fault, Exception) and type(fault).__name__ != "PanicException":
            raise
        message = (str(fault).strip().splitlines() or ["it cannot be read"])[0][:200].rstrip(".")
        raise InputError("bad-tokenizer", f"{name} is not a working tokenizer: {message}.", _HINT) from fault


def _config(file: Path) -> dict[str, Any]:
    """Return transformers' tokenizer configuration; empty if it is missing or unreadable."""
    try:
        content = read_json(file, TOKENIZER_FILE)
    except InputError:
        return {}
    return content if isinstance(content, dict) else {}


def _content(token: Any) -> str | None:
    """Return the text of a token in a configuration, which may be an object."""
    content = token.get("content") if isinstance(token, dict) else token
    return content if isinstance(content, str) else None
