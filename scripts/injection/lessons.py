"""Texts to learn from, each by its passages and by what is counted in them."""

import sysconfig
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from handrail.policy.injection.broken import mended_pieces
from handrail.policy.injection.claims import COMMAND, SHOWN_COMMAND, UNSEEN_CLAIM, Claims
from handrail.policy.injection.concepts import shipped_concepts
from handrail.policy.injection.encoded import decoded_pieces
from handrail.policy.injection.normalise import fold
from handrail.policy.injection.sentences import Sentence, sentences_of
from handrail.policy.injection.surroundings import UNSEEN, Surroundings
from handrail.policy.injection.weighing import AROUND, MOST_SENTENCES, MOST_WORDS, NEAR
from scripts.injection.made_up import MadeUp

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus" / "injection"
WRITERS = ("w1", "w2", "w3", "w4", "w5", "w6")

MADE_UP = 800
PIECES = 300
PIECE = 3_000
_LEAST = 2_000
_PROSE = ("*.md", "*.rst", "*.txt", "LICENSE*", "METADATA", "*.json", "*.html", "*.js", "*.yaml")
_DEPTH = 2
# The first texts were written along with rules that are no more: they count less.
_FIRST_COUNT = 0.4
_MADE_UP_COUNT = 0.5

_LEXICON = shipped_concepts()
_NAMES = [concept.name for concept in _LEXICON.concepts]
_CLAIMS = Claims(_LEXICON)

# Words that say nothing, or only that the address was an example.
_SMALL_WORDS = frozenset(
    [
        "the",
        "a",
        "an",
        "and",
        "or",
        "of",
        "to",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "with",
        "as",
        "is",
        "are",
        "be",
        "was",
        "were",
        "been",
        "it",
        "its",
        "that",
        "which",
        "re",
        "ll",
        "ve",
        "will",
        "would",
        "also",
        "then",
        "than",
        "so",
        "but",
        "more",
        "all",
        "any",
        "some",
        "each",
        "one",
        "two",
        "has",
        "have",
        "had",
        "do",
        "does",
        "did",
        "there",
        "their",
        "they",
        "them",
        "he",
        "she",
        "his",
        "her",
        "we",
        "our",
        "my",
        "me",
        "us",
        "into",
        "out",
        "up",
        "over",
        "about",
        "example",
        "com",
        "https",
        "http",
        "org",
        "net",
        "www",
        "invalid",
        "test",
        "io",
        "html",
        "en",
        "txt",
        "md",
        "id",
    ]
)

Bag = list[str]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A text by its passages: who wrote it, whether it attacks, and how much it counts.

    `override` says whether an attack tells to set aside what its reader goes by.
    """

    writer: str
    attacks: bool
    passages: list[Bag]
    counts: float = 1.0
    override: bool = False


def bags_of(text: str, depth: int = _DEPTH, *, encoded: bool = False) -> Iterator[Bag]:
    """What is counted in each passage of a text, as `scan` weighs it."""
    folded = fold(text)
    around = Surroundings(folded, encoded=encoded)
    yield from _passages(sentences_of(folded.text, 0, len(folded.text), _LEXICON), around)
    if depth:
        decoded = decoded_pieces(text, folded, set(folded.words.split()))
        for piece in chain(decoded, mended_pieces(folded)):
            yield from bags_of(piece.text, depth - 1, encoded=True)


def _passages(sentences: list[Sentence], around: Surroundings) -> Iterator[Bag]:
    words = [word for sentence in sentences for word in sentence.words]
    begin = 0
    for first, sentence in enumerate(sentences):
        stop = begin
        said: list[Sentence] = []
        for more in sentences[first : first + MOST_SENTENCES]:
            stop += len(more.words)
            if said and stop - begin > MOST_WORDS:
                break
            said.append(more)
            bag = ["sign bias"]
            bag += [name for one in said for name in _named("in", one.words)]
            bag += _named("before", words[max(begin - AROUND, 0) : begin])
            bag += _named("after", words[stop : stop + AROUND])
            signs = around.signs(sentence.start, more.end)
            bag += [f"sign {sign}" for sign in signs]
            bag += _concepts(said, unseen=not UNSEEN.isdisjoint(signs))
            bag += [f"claim {SHOWN_COMMAND}"] if _shows_command(said, around) else []
            yield bag
        begin += len(sentence.words)


def _named(part: str, words: list[str]) -> Bag:
    return [f"{part} {word}" for word in sorted(set(words)) if _tells(word)]


def _tells(word: str) -> bool:
    return len(word) > 1 and word not in _SMALL_WORDS and not any(map(str.isdigit, word))


def _concepts(sentences: list[Sentence], *, unseen: bool) -> Bag:
    single: set[str] = set()
    near: Bag = []
    bits = 0
    for sentence in sentences:
        for index, token in enumerate(sentence.tokens):
            for one in token.concepts:
                bits |= 1 << one
                single.add(_NAMES[one])
                single |= {f"{_NAMES[one]}^"} if token.begins else set()
                single |= {f"{_NAMES[one]}:"} if token.colon else set()
                single |= {f"{_NAMES[one]}~"} if unseen else set()
                for later in sentence.tokens[index + 1 : index + 1 + NEAR]:
                    if later.number - token.number <= NEAR:
                        near += [f"{_NAMES[one]}>{_NAMES[other]}" for other in later.concepts]
    claimed = {claim for one in sentences for claim in _CLAIMS.of_sentence(one.tokens)}
    claims = [f"claim {name}" for name in sorted(_CLAIMS.of_passage(claimed, bits))]
    claims += [f"claim {UNSEEN_CLAIM}"] if unseen and "claim any" in claims else []
    return sorted(single) + near + claims


def _shows_command(sentences: list[Sentence], around: Surroundings) -> bool:
    commands = [one for one in sentences if COMMAND in _CLAIMS.of_sentence(one.tokens)]
    return bool(commands and around.shown(commands[-1].start))


def written_lessons() -> Iterator[Lesson]:
    """The texts of six writers, who did not know what `scan` looks at."""
    for writer in WRITERS:
        yield from _from_files(writer, sorted((CORPUS / "lessons").glob(f"{writer}-*.toml")))


def first_lessons() -> Iterator[Lesson]:
    names = ("attacks_encoded.toml", "attacks_explicit.toml", "ordinary.toml")
    yield from _from_files("first", [CORPUS / "tuned" / name for name in names], _FIRST_COUNT)


def _from_files(writer: str, paths: Iterable[Path], counts: float = 1.0) -> Iterator[Lesson]:
    for path in paths:
        for attacks, override, text in rows_in(path):
            yield Lesson(writer, attacks, list(bags_of(text)), counts, override)


def rows_in(path: Path) -> Iterator[tuple[bool, bool, str]]:
    """Texts of a file: whether each attacks, whether it overrides anything, and what it says.

    Quiet attacks are left out: they say nothing that could be learned.
    """
    for row in tomllib.loads(path.read_text(encoding="utf-8"))["text"]:
        attacks = row["kind"] == "attack"
        if row.get("strength") != "quiet":
            yield attacks, attacks and row.get("override", True), row["text"]


def library_lessons() -> Iterator[Lesson]:
    for text in library_texts():
        yield Lesson("library", attacks=False, passages=list(bags_of(text)))


def library_texts() -> Iterator[str]:
    """Pieces of installed sources, licences and documents: nobody is attacked there."""
    library = Path(sysconfig.get_path("stdlib"))
    ours = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    standard = [path for path in library.rglob("*.py") if "site-packages" not in path.parts]
    packages = Path(sysconfig.get_path("purelib"))
    sources = packages.rglob("*.py")
    prose = (path for kind in _PROSE for path in packages.rglob(kind))
    for path in [*ours, *_some(standard), *_some(sources), *_some(prose)]:
        yield _middle(path.read_text(encoding="utf-8", errors="replace"))


def _some(paths: Iterable[Path]) -> list[Path]:
    """Some hundreds of them, spread evenly."""
    large = sorted(path for path in paths if path.is_file() and path.stat().st_size > _LEAST)
    return large[:: max(len(large) // PIECES, 1)]


def _middle(text: str) -> str:
    return text[len(text) // 2 :][:PIECE]


def made_up_lessons() -> Iterator[Lesson]:
    made_up = MadeUp(seed=1)
    for attacks, texts in ((True, made_up.attacks(MADE_UP)), (False, made_up.ordinary(MADE_UP))):
        for text in texts:
            yield Lesson("made up", attacks, list(bags_of(text)), _MADE_UP_COUNT)
