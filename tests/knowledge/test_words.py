from handrail.knowledge.words import content_words, names_in


def test_empty_words_are_left_out_and_each_is_told_once() -> None:
    assert content_words("What is the Release day of the release?") == ["release", "day"]


def test_if_there_are_only_empty_words_they_are_all_there_is() -> None:
    assert content_words("who are you") == ["who", "are", "you"]


def test_signs_are_no_words() -> None:
    assert content_words('"a" AND (b* OR ^c:) \0 NEAR') == ["b", "c", "near"]


def test_a_long_text_is_bounded() -> None:
    assert len(content_words(" ".join(f"w{number}" for number in range(5_000)))) == 32


def test_names_are_what_has_digits_or_underscores_in_it() -> None:
    assert names_in("Is HX-4711 (or max_retries) set to 30, on port8?") == [
        "hx-4711",
        "max_retries",
        "port8",
    ]
