"""Strings that a shell may be given: what people type, bent until it breaks."""

import string
from collections.abc import Callable
from random import Random

NAMES = ["c1", "c2", "c3", "c4", "./c5", "bin/c6", "echo", "cd", "test", "printf", "eval"]

_PLAIN = [
    "a", "b.py", "src", "src/x_1.py", "-x", "-rn", "--long", "--include=", "-", "--", "0", "1", "2",
    "10", "-20", "1,80p", "a=b", "=", "a:b", "HEAD~1", "HEAD^", "HEAD~2^", "@~1", "v1.0..v2",
    "@{u}", "stash@{0}", "{}", "!", "^x", "%", "%s", ",", "+", "+x", "@", ".", "..", "/",
    "/dev/null", ":", "if", "time", "then", "in", "done", "x@y.z:q/w", "a-b", "a]", "[a",
    "0x1f", "1e3",
]  # fmt: skip
_GLOBS = [
    "*", "?", "[ab]", "[a-z]*", "*.py", "src/**/*.py", "[!a]", "[^a]", "[", "]", "[[:alpha:]]",
]  # fmt: skip
_ODD = [
    "~", "~/x", "{a,b}", "{1..3}", "{", "}", "!x", "#", "#x", "$", "$x", "${x}", "$(c1)", "`c1`",
    "$((1))", "$'a'", '$"a"', "é", "日", "\u200b", "\u00a0", "<(c1)", "(", ")", "a=~/x", ":~", "\\",
    "a~", "=~", "<", ">", ">x", "{a}>x", "=(a)", "a#b", "$IFS", "\x01", "\x7f", "\r", "\v", "\f",
]  # fmt: skip
_INSIDE = [
    *"ab01 *?[]{}~!#$`\"'\\|&;<>()\n\t.,:-=/^%@", "\\n", "\\.", "\\$", '\\"', "\\`", "\\\\", "$|",
    "é", "日",
]  # fmt: skip
_ESCAPED = [*string.punctuation * 3, *string.ascii_letters, *" ;;;()()\t\n       "]
_BETWEEN = [" "] * 50 + ["  ", "\t", " \\\n  ", " \\\n", "\\\n", "\\\n ", "\\\t", " \t "]
_JOINS = [
    " | ", "|", " |", "| ", " && ", "&&", " || ", "||", "; ", ";", " ; ", "\n", "\n\n", " &&\n  ",
    "|\n", " | \\\n ", " # note\n", "\n# it's\n", ";\n", "; # x\n", " &&# x\n", "&& \n\n ",
]  # fmt: skip
_BAD_JOINS = [
    " & ", "&", " |& ", ";;", "\n| ", "; ; ", " && ; ", "&& ||", "\r\n", "\\\n", " \\\n", " #",
]  # fmt: skip
_REDIRECTS = [
    " 2>/dev/null", " >/dev/null", " 2>&1", " &>/dev/null", " > /dev/null", " 2> /dev/null",
    " >/dev/null 2>&1", " 2>&1 >/dev/null", " &> \\\n /dev/null", " 2>&1 2>/dev/null",
]  # fmt: skip
_BAD_REDIRECTS = [
    ">/dev/null", "2>/dev/null", "2>&1", " >x", " >>/dev/null", " </dev/null", " 2>& 1", " 2 >&1",
    " 2>&2", " 2>&1x", " 1>/dev/null", " >|/dev/null", " >&2", " 2>\n/dev/null", " >/dev/nullx",
    " >/dev/null'x'", " 2>'/dev/null'", " 2>\\\n/dev/null", " 2\\\n>/dev/null", " &>>/dev/null",
    " <<<a", " <<E\na\nE\n", " >/dev/null>/dev/null", " 2&>/dev/null", " 22>/dev/null", " 2>&1-",
    " {a}>/dev/null", " > # x\n/dev/null",
]  # fmt: skip
_FRAMES: list[Callable[[str], str]] = [
    lambda text: f"({text})",
    lambda text: f"{{ {text}; }}",
    lambda text: f"! {text}",
    lambda text: f"time {text}",
    lambda text: f"coproc {text}",
    lambda text: f"if {text}; then c1; fi",
    lambda text: f"x=1 {text}",
    lambda text: f">/dev/null {text}",
    lambda text: f"f() {{ {text}; }}",
    lambda text: f"[[ a ]] && {text}",
]
_SOUP = list("cc112 aab \n\t  ''\"\"\\\\||&&;;>#$`*?[]{}()~!=<,-./2é")


def shell_string(random: Random) -> str:
    """One string. Most are nearly what somebody could have typed."""
    kind = random.random()
    if kind < 0.06:
        return "".join(random.choices(_SOUP, k=random.randint(1, 24)))
    text = _line(random)
    if kind < 0.10:
        text = random.choice(_FRAMES)(text)
    while random.random() < 0.15:
        text = _bent(text, random)
    return text


def _line(random: Random) -> str:
    text = random.choice(["", "", "", " ", "\n", "# note\n"]) + _command(random)
    while random.random() < 0.45:
        text += random.choice(_BAD_JOINS if random.random() < 0.05 else _JOINS) + _command(random)
    return text + random.choice(["", "", "", "\n", ";", " # end", " "])


def _command(random: Random) -> str:
    text = random.choice(NAMES)
    if random.random() < 0.06:
        text = _spliced(text, random)
    for _ in range(random.choice([0, 0, 1, 1, 2, 3, 4])):
        text += random.choice(_BETWEEN) + _word(random)
        if random.random() < 0.05:
            text += random.choice(_BAD_REDIRECTS if random.random() < 0.3 else _REDIRECTS)
    if random.random() < 0.12:
        text += random.choice(_BAD_REDIRECTS if random.random() < 0.25 else _REDIRECTS)
    return text


def _spliced(name: str, random: Random) -> str:
    at = random.randrange(1, len(name) + 1)
    return name[:at] + random.choice(["''", '""', "\\\n", "\\"]) + name[at:]


def _word(random: Random) -> str:
    return "".join(_piece(random) for _ in range(random.choice([1, 1, 1, 1, 2, 2, 3])))


def _piece(random: Random) -> str:
    kind = random.random()
    if kind < 0.5:
        return random.choice(_PLAIN)
    if kind < 0.58:
        return random.choice(_GLOBS)
    if kind < 0.70:
        return "'" + _inside(random).replace("'", "") + "'"
    if kind < 0.86:
        return '"' + _inside(random) + '"'
    if kind < 0.98:
        return "\\" + random.choice(_ESCAPED)
    return random.choice(_ODD)


def _inside(random: Random) -> str:
    return "".join(random.choices(_INSIDE, k=random.choice([0, 1, 2, 3, 5])))


def _bent(text: str, random: Random) -> str:
    """One small change at one place."""
    at = random.randrange(len(text) + 1)
    match random.randrange(4):
        case 0:
            return text[:at] + text[at + 1 :]
        case 1:
            return text[:at] + random.choice(["\\\n", "\\", "'", '"', " ", "\n", "#"]) + text[at:]
        case 2:
            return text[:at] + random.choice(_SOUP) + text[at:]
        case _:
            end = min(len(text), at + random.randint(1, 4))
            return text[:end] + text[at:end] + text[end:]
