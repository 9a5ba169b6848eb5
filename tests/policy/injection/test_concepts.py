import tomllib
from importlib.resources import files

import pytest

from handrail.core.errors import RuleError
from handrail.policy.injection.concepts import (
    Lexicon,
    add_language,
    parse_concepts,
    shipped_concepts,
)
from handrail.policy.injection.sentences import sentences_of

OWN = """
[shop]
says = "speaks of a shop"
words = '''
shop, store*, corner shop
店
'''

[praise]
says = "praises"
words = "praise*, speak well of"
"""
SHIPPED = files("handrail.policy.injection") / "defaults"


def said(lexicon: Lexicon, text: str) -> list[str]:
    (sentence,) = sentences_of(text, 0, len(text), lexicon)
    return [lexicon.concepts[one].name for token in sentence.tokens for one in token.concepts]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a shop", ["shop"]),
        ("shopping", []),
        ("storeship", ["shop"]),
        ("they praised the stores", ["praise", "shop"]),
        ("speak well of it", ["praise"]),
        ("speak of it", []),
        ("この店は", ["shop"]),
    ],
)
def test_words_stand_for_concepts(text: str, names: list[str]) -> None:
    assert said(parse_concepts(OWN, "own.toml"), text) == names


def test_a_language_adds_its_words() -> None:
    lexicon = parse_concepts(OWN, "own.toml")
    add_language(lexicon, 'shop = "Läden, Geschäft*"', "de.toml")
    assert said(lexicon, "zwei laden und geschafte") == ["shop", "shop"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("says =", "sais =", "own.toml: shop says 'sais', which no concept knows"),
        ('says = "praises"\n', "", "own.toml: praise needs 'says'"),
        ("[shop]", "[shop", "own.toml cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_a_sentence(
    old: str, new: str, words: str
) -> None:
    with pytest.raises(RuleError, match=words):
        parse_concepts(OWN.replace(old, new), "own.toml")


def test_a_language_with_a_concept_that_is_none_is_refused() -> None:
    with pytest.raises(RuleError, match=r"xx\.toml says 'inn', which is not a concept"):
        add_language(parse_concepts(OWN, "own.toml"), 'inn = "Gasthof"', "xx.toml")


@pytest.mark.parametrize(
    "language", sorted(file.name for file in (SHIPPED / "languages").iterdir())
)
def test_every_shipped_language_has_the_words_that_matter(language: str) -> None:
    told = tomllib.loads((SHIPPED / "languages" / language).read_text(encoding="utf-8"))
    names = {concept.name for concept in shipped_concepts().concepts}
    assert told.keys() <= names
    assert told.keys() >= {"ai", "role", "drop", "void", "order", "task", "prior", "now", "user"}
