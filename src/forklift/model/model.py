"""The whole vision-language model: page patches and tokens in, logits out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from forklift.checkpoint.config import ModelConfig
from forklift.model.attention import GatedAttention
from forklift.model.cache import Cache
from forklift.model.delta import GatedDeltaNet
from forklift.model.language import GatedMLP, LanguageModel
from forklift.model.linear import Linear
from forklift.model.norm import RMSNorm
from forklift.model.vision import Grid, VisionTower


class Model(nn.Module):
    """Qwen3.5 vision-language model. Parameters are named as `checkpoint/tensors.py` lists them."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.vision = VisionTower(config.vision)
        self.language = LanguageModel(config.text)
        if not config.text.tie_word_embeddings:
            self.lm_head = Linear(config.text.hidden_size, config.text.vocabulary_size)

    def prepare_for_inference(self) -> None:
        """Do what need not be done for every token. Call it when the weights are final; no training afterwards."""
        self.requires_grad_(False)
        for module in self.modules():
            if isinstance(module, RMSNorm | GatedDeltaNet | GatedAttention | GatedMLP):
                module.prepare()

    @property
    def dtype(self) -> torch.dtype:
        """The type of the activations."""
        return self.vision.patch_embed.proj.weight.dtype

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., hidden] -> [..., vocabulary]."""
        if self.config.text.tie_word_embeddings:
            return self.language.embed_tokens.as_linear(hidden)
        return self.lm_head(hidden)

    def embed(self, token_ids: Tensor, patches: Tensor | None, grids: Sequence[Grid]) -> Tensor:
        """[tokens] -> [tokens, hidden]; each image token takes the place of the next vision embedding."""
        embedded = self.language.embed_tokens(token_ids)
        places = token_ids == self.config.image_token_id
        wanted = int(places.sum())
        if patches is None:
            assert wanted == 0, f"{wanted} image tokens and no patches"
            return embedded
        images = self.vision(patches.to(self.dtype), grids)
        assert wanted == images.shape[0], f"{wanted} image tokens for {images.shape[0]} image embeddings"
        return embedded.masked_scatter(places[:, None], images.to(embedded.dtype))

    def positions(self, token_ids: Tensor, grids: Sequence[Grid], start: int = 0) -> tuple[Tensor, int]:
        """Rotary positions [3, tokens] and the next one.

        Text counts on by one on all three axes. An image of h x w tokens starts where the text stopped: its tokens
        share the time, their height and width count rows and columns; text goes on max(h, w) later.
        """
        merge = self.config.vision.spatial_merge_size
        images = (token_ids == self.config.image_token_id).tolist()
        remaining = [(rows // merge, columns // merge) for frames, rows, columns in grids for _ in range(frames)]
        pieces: list[Tensor] = []
        index, position = 0, start
        while index < len(images):
            if images[index]:
                rows, columns = remaining.pop(0)
                row = torch.arange(rows).repeat_interleave(columns)
                column = torch.arange(columns).repeat(rows)
                pieces.append(position + torch.stack((torch.zeros_like(row), row, column)))
                index += rows * columns
                position += max(rows, columns)
            else:
                end = next((i for i in range(index, len(images)) if images[i]), len(images))
                pieces.append(torch.arange(position, position + end - index).expand(3, -1))
                position += end - index
                index = end
        return torch.cat(pieces, 1).to(token_ids.device), position

    @torch.inference_mode()
    def prefill(
        self,
        token_ids: Tensor,
        patches: Tensor | None = None,
        grids: Sequence[Grid] = (),
        splits: Sequence[int] = (),
    ) -> tuple[Cache, Tensor]:
        """Read a whole prompt. Returns the cache and the logits [vocabulary] after its last token.

        token_ids: [tokens], at least one; patches and grids as `VisionTower` takes them.
        splits: token indices at which to cut the pass, which bounds memory and changes nothing else.
        """
        embedded = self.embed(token_ids, patches, grids)
        positions, next_position = self.positions(token_ids, grids)
        cache = self.language.new_cache()
        hidden = embedded
        for start, end in pairwise((0, *splits, token_ids.shape[0])):
            hidden = self.language(embedded[None, start:end], positions[:, start:end], cache)
        cache.next_position = next_position
        return cache, self.logits(hidden[0, -1])

    @torch.inference_mode()
    def extend(self, cache: Cache, token_ids: Tensor, last_only: bool = False) -> Tensor:
        """Go on by text tokens [n] in one pass. Returns logits [n, vocabulary], or [1, vocabulary] of the last."""
        return self.logits(self._read(cache, token_ids)[-1 if last_only else 0 :])

    @torch.inference_mode()
    def verify(self, cache: Cache, token_ids: Tensor, draft: int) -> Tensor:
        """Go on by text tokens [n], the last `draft` of them tentatively: `cache.keep` must follow.

        Returns logits [1 + draft, vocabulary], from the last certain token on.
        """
        cache.make_tentative(token_ids.shape[0] - draft, draft)
        return self.logits(self._read(cache, token_ids)[-1 - draft :])

    def _read(self, cache: Cache, token_ids: Tensor) -> Tensor:
        """The hidden states [n, hidden] of text tokens [n] after what the cache holds."""
        count = token_ids.shape[0]
        positions = torch.arange(cache.next_position, cache.next_position + count, device=token_ids.device)
        hidden = self.language(self.language.embed_tokens(token_ids)[None], positions.expand(3, -1), cache)[0]
        cache.next_position += count
        return hidden
