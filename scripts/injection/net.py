# pyright: basic, reportMissingImports=false
"""MiniLM in PyTorch, so that it can be taught; with the names that its weights have elsewhere."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

WIDTH = 384
HEADS = 12
LAYERS = 6
_INNER = 1536
_WORDS = 30_522
_PLACES = 512
_DROPPED = 0.1


class _Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.self = nn.ModuleDict(
            {part: nn.Linear(WIDTH, WIDTH) for part in ("query", "key", "value")}
        )
        self.output = _Output(WIDTH)

    def forward(self, states: Tensor, seen: Tensor) -> Tensor:
        many, length, _ = states.shape

        def heads(part: str) -> Tensor:
            return self.self[part](states).view(many, length, HEADS, -1).transpose(1, 2)

        found = F.scaled_dot_product_attention(
            heads("query"), heads("key"), heads("value"), attn_mask=seen
        )
        return self.output(found.transpose(1, 2).reshape(many, length, WIDTH), states)


class _Output(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, WIDTH)
        self.LayerNorm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, made: Tensor, states: Tensor) -> Tensor:
        made = F.dropout(self.dense(made), _DROPPED, self.training)
        return self.LayerNorm(states + made)


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = _Attention()
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(WIDTH, _INNER)})
        self.output = _Output(_INNER)

    def forward(self, states: Tensor, seen: Tensor) -> Tensor:
        states = self.attention(states, seen)
        return self.output(F.gelu(self.intermediate["dense"](states)), states)


class Net(nn.Module):
    """The model, and at its end what says how much a window reads like an order."""

    def __init__(self, weights: dict[str, Tensor]) -> None:
        super().__init__()
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(_WORDS, WIDTH),
                "position_embeddings": nn.Embedding(_PLACES, WIDTH),
                "token_type_embeddings": nn.Embedding(2, WIDTH),
                "LayerNorm": nn.LayerNorm(WIDTH, eps=1e-12),
            }
        )
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(_Layer() for _ in range(LAYERS))})
        self.head = nn.Linear(2 * WIDTH, 1)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)
        self.load_state_dict({**self.state_dict(), **_known(self, weights)})
        # What words are by themselves stays as it was: only what is made of them is learned.
        for part in ("word_embeddings", "position_embeddings", "token_type_embeddings"):
            self.embeddings[part].requires_grad_(requires_grad=False)

    def forward(self, ids: Tensor, real: Tensor) -> Tensor:
        """`real` is 1 for tokens and 0 for what only fills up a row."""
        states = self.embeddings["word_embeddings"](ids)
        states = states + self.embeddings["position_embeddings"](torch.arange(ids.shape[1]))
        states = states + self.embeddings["token_type_embeddings"].weight[0]
        states = F.dropout(self.embeddings["LayerNorm"](states), _DROPPED, self.training)
        for layer in self.encoder["layer"]:
            states = layer(states, real[:, None, None, :].bool())
        shown = real[:, :, None]
        mean = (states * shown).sum(1) / shown.sum(1)
        most = states.masked_fill(shown == 0, -1e4).max(1).values
        return self.head(torch.cat([mean, most], -1)).squeeze(-1)


def _known(net: nn.Module, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    names = net.state_dict().keys()
    return {name: value for name, value in weights.items() if name in names}
