# pyright: basic, reportMissingImports=false
"""Teach the small language model to read doubts, and write down what it has learned.

    python -m scripts.injection.teach            # writes knowledge/learned/orders.safetensors
    python -m scripts.injection.teach --further  # goes on with what it has learned so far
    python -m scripts.injection.teach --without w1 w2 --scores scores.json

Needs PyTorch, which nothing else here does: install it in an environment of its own, along with
`handrail[memory]` and the weights. Takes three quarters of an hour on two cores.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor

from handrail.knowledge.minilm import find_weights
from handrail.knowledge.orders import BEGIN, END, LEARNED, changes_of, learned_from_bytes
from scripts.injection.lessons import ROOT
from scripts.injection.net import Net
from scripts.injection.windows import Text, texts_to_learn

WRITTEN = ROOT / "src" / "handrail" / "knowledge" / "learned" / LEARNED
ROUNDS = 5
TOGETHER = 32
PACE = 6e-5
RISING = 100
_MASK = 103
_MASKED = 0.05
# Nobody is quite sure of anything: what is known for certain teaches no more.
_DOUBT = 0.02
_KNOWN_BELOW = 0.12
_OF_KNOWN = 0.35
_ORDINARY_WINDOWS = 4
_LIBRARY_WINDOWS = 2

Example = tuple[list[int], bool, float]


def teach(net: Net, texts: Sequence[Text], rounds: float) -> None:
    """An attack is known by one of its windows: the one that reads most like an order so far."""
    chance = random.Random(1)
    wide = [one for name, one in net.named_parameters() if one.ndim > 1 and "head" not in name]
    thin = [one for one in net.parameters() if one.ndim <= 1]
    groups = [
        {"params": [one for one in wide if one.requires_grad], "weight_decay": 0.05},
        {"params": thin, "weight_decay": 0.0},
        {"params": [net.head.weight], "weight_decay": 0.01},
    ]
    optimiser = torch.optim.AdamW(groups, lr=PACE, betas=(0.9, 0.98))
    chosen = dict.fromkeys(range(len(texts)), 0)
    wrong: dict[tuple[int, int], float] = {}
    many = sum(1 for _ in _windows(texts, chosen))
    last, step, turn = int(rounds * many / TOGETHER), 0, 0
    while step < last:
        use = [
            key
            for key in _windows(texts, chosen)
            if turn < 2 or wrong.get(key, 9.0) > _KNOWN_BELOW or chance.random() < _OF_KNOWN
        ]
        for keys in _batches(texts, use, chance):
            pace = PACE * min(1, (step + 1) / RISING) * max(0.02, 1 - step / last)
            for group, faster in zip(optimiser.param_groups, (1, 1, 8), strict=True):
                group["lr"] = pace * faster
            wanted = torch.tensor([float(texts[number].attacks) for number, _ in keys])
            heed = torch.tensor([texts[number].counts for number, _ in keys])
            read = net(*_rows([texts[number].windows[at] for number, at in keys], chance))
            target = wanted * (1 - 2 * _DOUBT) + _DOUBT
            losses = F.binary_cross_entropy_with_logits(read, target, reduction="none")
            optimiser.zero_grad()
            (losses * heed).mean().backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimiser.step()
            wrong.update(zip(keys, losses.tolist(), strict=True))
            step += 1
            if step % 100 == 0:
                print(f"{step} of {last}: {losses.mean().item():.3f}", flush=True)
            if step == last:
                break
        turn += 1
        if turn < 3 and step < last:
            _choose(net, texts, chosen)


def _windows(texts: Sequence[Text], chosen: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Which windows are read: one of an attack, and the heaviest of an ordinary text."""
    for number, text in enumerate(texts):
        if text.attacks:
            yield number, chosen[number]
        else:
            most = _LIBRARY_WINDOWS if text.writer == "library" else _ORDINARY_WINDOWS
            yield from ((number, at) for at in range(min(most, len(text.windows))))


def _choose(net: Net, texts: Sequence[Text], chosen: dict[int, int]) -> None:
    attacks = [number for number, text in enumerate(texts) if text.attacks]
    keys = [(number, at) for number in attacks for at in range(len(texts[number].windows))]
    best: dict[int, float] = {}
    for (number, at), reading in readings(net, texts, keys).items():
        if reading > best.get(number, -99.0):
            best[number], chosen[number] = reading, at


@torch.no_grad()
def readings(
    net: Net, texts: Sequence[Text], keys: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], float]:
    net.eval()
    ordered = sorted(keys, key=lambda key: len(texts[key[0]].windows[key[1]]))
    read: dict[tuple[int, int], float] = {}
    for first in range(0, len(ordered), 2 * TOGETHER):
        some = ordered[first : first + 2 * TOGETHER]
        found = net(*_rows([texts[number].windows[at] for number, at in some]))
        read.update(zip(some, found.tolist(), strict=True))
    net.train()
    return read


def _batches(
    texts: Sequence[Text], keys: Sequence[tuple[int, int]], chance: random.Random
) -> list[list[tuple[int, int]]]:
    """Windows of about the same length together, in no order."""
    length = {key: len(texts[key[0]].windows[key[1]]) + chance.uniform(-8, 8) for key in keys}
    ordered = sorted(keys, key=length.__getitem__)
    batches = [ordered[first : first + TOGETHER] for first in range(0, len(ordered), TOGETHER)]
    chance.shuffle(batches)
    return batches


def _rows(windows: Sequence[list[int]], chance: random.Random | None = None) -> tuple[Tensor, ...]:
    """Windows side by side; with chance, some of their tokens are hidden."""
    longest = max(map(len, windows)) + 2
    ids = torch.zeros(len(windows), longest, dtype=torch.long)
    real = torch.zeros(len(windows), longest)
    for row, window in enumerate(windows):
        if chance:
            window = [_MASK if chance.random() < _MASKED else one for one in window]
        ids[row, : len(window) + 2] = torch.tensor([BEGIN, *window, END])
        real[row, : len(window) + 2] = 1
    return ids, real


def write(net: Net, before: dict[str, Tensor], path: Path) -> None:
    """How the weights have changed; of the large ones in sixteen steps, two in a byte."""
    kept = {"head weight": net.head.weight[0].half(), "head bias": net.head.bias.half()}
    for name, value in net.state_dict().items():
        if not name.startswith(("encoder.", "embeddings.LayerNorm")):
            continue
        change = value - before[name]
        if change.ndim == 1:
            kept[f"change {name}"] = change.half()
        else:
            step = change.abs().amax(1).clamp(min=1e-8) / 7
            steps = (change / step[:, None]).round().add(8).to(torch.uint8)
            kept[f"step {name}"] = step.float()
            kept[f"steps {name}"] = steps[:, ::2] << 4 | steps[:, 1::2]
    path.parent.mkdir(exist_ok=True)
    save_file({name: one.detach().contiguous() for name, one in kept.items()}, path)


def _further(before: dict[str, Tensor], path: Path) -> dict[str, Tensor]:
    """The weights with what was learned so far."""
    learned = learned_from_bytes(path.read_bytes())
    changes = {name: torch.from_numpy(one) for name, one in changes_of(learned).items()}
    head = {
        "head.weight": torch.from_numpy(learned["head weight"])[None],
        "head.bias": torch.from_numpy(learned["head bias"]),
    }
    return before | {name: before[name] + change for name, change in changes.items()} | head


def main() -> None:
    parser = argparse.ArgumentParser(description="Teach the reader of doubts.")
    parser.add_argument("--without", nargs="*", default=[], help="writers to leave out")
    parser.add_argument("--scores", type=Path, help="readings of these go here")
    parser.add_argument("--further", action="store_true", help="go on with what is learned")
    parser.add_argument("--rounds", type=float, default=ROUNDS)
    parser.add_argument("--output", type=Path, default=WRITTEN)
    asked = parser.parse_args()
    weights = find_weights()
    if weights.folder is None:
        raise SystemExit(weights.why_not)
    torch.manual_seed(1)
    before = load_file(weights.folder / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(weights.folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = list(texts_to_learn(tokenizer))
    learned_from = [one for one in texts if one.writer not in asked.without]
    net = Net(_further(before, asked.output) if asked.further else before).train()
    teach(net, learned_from, asked.rounds)
    write(net, before, asked.output)
    if asked.scores:
        held = [one for one in texts if one.writer in asked.without]
        keys = [(number, at) for number, one in enumerate(held) for at in range(len(one.windows))]
        found = readings(net, held, keys)
        told = [
            [
                one.writer,
                one.attacks,
                one.override,
                [found[number, at] for at in range(len(one.windows))],
            ]
            for number, one in enumerate(held)
        ]
        asked.scores.write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main()
