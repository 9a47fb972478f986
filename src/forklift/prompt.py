"""A user turn into what the model takes: the checkpoint's chat template, its tokens, and image patches."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklift.checkpoint.own_settings import own_setting
from forklift.documents import PagePolicy
from forklift.errors import CheckpointError
from forklift.patches import Grid, ImageProcessor

if TYPE_CHECKING:
    import jinja2
    import tokenizers
    import torch
    from PIL import Image

    from forklift.schema import Schema

# The one sentence that every model is given. A tiny model reads it too, so it is short.
TASK = "Read the document and fill in this JSON Schema. Write null for what is not there."

IMAGE_TOKEN = "<|image_pad|>"
END_OF_TURN_TOKENS = ("<|im_end|>", "<|endoftext|>")

# Stands for the user's text while the template is rendered, when that text spells special tokens itself.
_TEXT_MARK = "\ue000\ue001\ue002"


def extraction_text(schema: Schema) -> str:
    """The text of the user turn that follows the page images: the task, a blank line, the JSON Schema."""
    return f"{TASK}\n\n{schema.prompt_text}"


@dataclass(frozen=True)
class Prompt:
    """What a local model prefills.

    token_ids: the turn, with one image token for each merged patch of each page.
    patches: float32 [patches of all pages, 3 * 2 * 16 * 16 for a patch size of 16], see
    `ImageProcessor.patchify`.
    grids: (1, patch rows, patch columns) of each page.
    """

    token_ids: tuple[int, ...]
    patches: torch.Tensor
    grids: tuple[Grid, ...]


class Prompter:
    """Builds prompts for one checkpoint, and reads its tokens back.

    processor: how images become patches. page_policy: how large its pages should be rendered.
    end_of_turn_ids: the tokens that end an answer, whatever generation_config.json says (its list may lack
    <|im_end|>).
    """

    def __init__(
        self,
        tokenizer: tokenizers.Tokenizer,
        template: jinja2.Template,
        processor: ImageProcessor,
        page_policy: PagePolicy,
        *,
        eos_token_ids: Sequence[int] = (),
        template_variables: Mapping[str, Any] | None = None,
    ) -> None:
        self.tokenizer = tokenizer
        self.processor = processor
        self.page_policy = page_policy
        image_token_id = tokenizer.token_to_id(IMAGE_TOKEN)
        if image_token_id is None:
            raise CheckpointError(f"the tokenizer has no {IMAGE_TOKEN} token; this is no vision-language model.")
        self.image_token_id: int = image_token_id
        named = (tokenizer.token_to_id(token) for token in END_OF_TURN_TOKENS)
        self.end_of_turn_ids = frozenset(eos_token_ids) | {token for token in named if token is not None}
        self._template = template
        self._template_variables = dict(template_variables or {})
        self._added = {token: added.content for token, added in tokenizer.get_added_tokens_decoder().items()}
        self._literal_tokenizer: tokenizers.Tokenizer | None = None
        self._bytes: dict[int, bytes] = {}

    @classmethod
    def from_folder(cls, folder: str | Path) -> Prompter:
        """Read tokenizer.json, the chat template, the image processor's and the generation settings of a
        checkpoint.

        Raises CheckpointError, naming the file that is missing or unusable.
        """
        import tokenizers

        folder = Path(folder)
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise CheckpointError(f"{folder}: has no tokenizer.json; copy it from the model's original repository.")
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception
            raise CheckpointError(f"{path}: not readable as a tokenizer: {error}.") from error
        if "ByteLevel" not in _pre_tokenizer_kinds(tokenizer):
            raise CheckpointError(f"{path}: is no byte-level BPE tokenizer, the only kind that is supported.")
        settings = _read_json(folder / "tokenizer_config.json")
        generation = _read_json(folder / "generation_config.json")
        eos = generation.get("eos_token_id") or []
        return cls(
            tokenizer,
            compile_template(_template_text(folder, settings), str(folder)),
            ImageProcessor.from_folder(folder),
            _read_page_policy(folder),
            eos_token_ids=[eos] if isinstance(eos, int) else eos,
            template_variables=_special_token_names(settings),
        )

    def build(self, pages: Sequence[Image.Image], text: str) -> Prompt:
        """One user turn: every page image in order, then `text`; the assistant's turn is opened, thinking
        off.

        Special tokens that `text` spells are read as ordinary characters. Raises CheckpointError when the
        chat template does not give each image its place.
        """
        import numpy as np
        import torch

        ids = self._encode_turn(len(pages), text)
        if ids.count(self.image_token_id) != len(pages):
            raise CheckpointError(
                f"the chat template wrote {ids.count(self.image_token_id)} image places "
                f"for {len(pages)} pages; this checkpoint's template is not that of a vision-language model."
            )
        grids = tuple(self.processor.grid_of(page) for page in pages)
        # One block for all pages: joining blocks of their own would hold every patch twice, 20 MB a page.
        ends = np.cumsum([0, *(math.prod(grid) for grid in grids)])
        patches = np.empty((int(ends[-1]), self.processor.patch_elements), dtype=np.float32)
        for page, start, end in zip(pages, ends[:-1], ends[1:], strict=True):
            self.processor.patchify(page, patches[start:end])
        token_ids: list[int] = []
        remaining = iter(grids)
        for token in ids:
            repeat = self.processor.tokens_of(next(remaining)) if token == self.image_token_id else 1
            token_ids.extend([token] * repeat)
        return Prompt(tuple(token_ids), torch.from_numpy(patches), grids)

    def render(self, page_count: int, text: str) -> str:
        """The turn as text, with one image token a page. Raises CheckpointError when the template fails."""
        import jinja2

        parts: list[dict[str, str]] = [{"type": "image"} for _ in range(page_count)]
        parts.append({"type": "text", "text": text})
        try:
            return self._template.render(
                messages=[{"role": "user", "content": parts}],
                add_generation_prompt=True,
                enable_thinking=False,
                **self._template_variables,
            )
        except jinja2.TemplateError as error:
            raise CheckpointError(f"the chat template cannot write this prompt: {error}.") from error

    def decode_token(self, token_id: int) -> bytes:
        """The bytes of one token: they may be part of a UTF-8 character.

        End-of-turn tokens have none, nor have ids past the tokenizer's last: a model's vocabulary is padded
        to a round size, and random weights do choose such rows.
        """
        known = self._bytes.get(token_id)
        if known is None:
            known = self._bytes[token_id] = self._decode_token(token_id)
        return known

    def _decode_token(self, token_id: int) -> bytes:
        if token_id in self.end_of_turn_ids:
            return b""
        if token_id in self._added:
            return self._added[token_id].encode()
        piece = self.tokenizer.id_to_token(token_id)
        return bytes(_BYTE_OF[char] for char in piece or "")

    def _encode_turn(self, page_count: int, text: str) -> list[int]:
        if not any(token in text for token in self._added.values()):
            return self._encode(self.tokenizer, self.render(page_count, text))
        before, mark, after = self.render(page_count, _TEXT_MARK).partition(_TEXT_MARK)
        if not mark:
            raise CheckpointError("the chat template leaves out the user's text.")
        if self._literal_tokenizer is None:
            import tokenizers

            self._literal_tokenizer = tokenizers.Tokenizer.from_str(self.tokenizer.to_str())
            self._literal_tokenizer.encode_special_tokens = True
        encoded = self._encode(self.tokenizer, before), self._encode(self._literal_tokenizer, text)
        return [*encoded[0], *encoded[1], *self._encode(self.tokenizer, after)]

    @staticmethod
    def _encode(tokenizer: tokenizers.Tokenizer, text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False).ids)


def compile_template(text: str, name: str) -> jinja2.Template:
    """Compile a chat template in a sandbox, with the helpers that templates of the field expect.

    Raises CheckpointError when it is no Jinja template.
    """
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def raise_exception(message: str) -> None:
        raise CheckpointError(f"{name}: the chat template refuses the prompt: {message}")

    def to_json(value: Any, ensure_ascii: bool = False, indent: int | None = None, **options: Any) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **options)  # never HTML-escaped

    def time_now(form: str) -> str:
        from datetime import datetime

        return datetime.now().strftime(form)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = time_now
    try:
        return environment.from_string(text)
    except jinja2.TemplateError as error:
        raise CheckpointError(f"{name}: the chat template is no valid Jinja template: {error}.") from error


def _template_text(folder: Path, settings: Mapping[str, Any]) -> str:
    path = folder / "chat_template.jinja"
    if path.is_file():
        return path.read_text(encoding="utf-8")
    template = _read_json(folder / "chat_template.json").get("chat_template") or settings.get("chat_template")
    if isinstance(template, list):  # several templates by name
        named = {entry["name"]: entry["template"] for entry in template}
        template = named.get("default")
    if not isinstance(template, str):
        raise CheckpointError(
            f"{folder}: has no chat template (chat_template.jinja, or in tokenizer_config.json); "
            "copy it from the model's original repository."
        )
    return template


def _read_page_policy(folder: str | Path) -> PagePolicy:
    """How large a checkpoint wants its pages: "forklift"."page" of generation_config.json, else the default.

    Raises CheckpointError for settings that are no page policy.
    """
    settings, path = own_setting(Path(folder), "page")
    try:
        return PagePolicy(**(settings or {}))
    except (TypeError, ValueError) as error:
        raise CheckpointError(f'{path}: "forklift"."page" is unusable: {error}.') from error


def _special_token_names(settings: Mapping[str, Any]) -> dict[str, str]:
    """bos_token and the like, which templates may name."""
    names: dict[str, str] = {}
    for key in ("bos_token", "eos_token", "pad_token", "unk_token"):
        value = settings.get(key)
        value = value.get("content") if isinstance(value, dict) else value
        if isinstance(value, str):
            names[key] = value
    return names


def _pre_tokenizer_kinds(tokenizer: tokenizers.Tokenizer) -> set[str]:
    stages = json.loads(tokenizer.to_str()).get("pre_tokenizer") or {}
    return {stages.get("type"), *(stage.get("type") for stage in stages.get("pretokenizers", []))}


def _read_json(path: Path) -> dict[str, Any]:
    """The object in a settings file; empty when there is no such file."""
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(f"{path}: is no JSON: {error}.") from error
    if not isinstance(value, dict):
        raise CheckpointError(f"{path}: holds no JSON object.")
    return value


def _byte_alphabet() -> dict[str, int]:
    """The character that byte-level BPE writes for each byte: itself where it is printable, else one from
    U+0100 on.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = (byte for byte in range(256) if byte not in printable)
    return {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}


_BYTE_OF = _byte_alphabet()
