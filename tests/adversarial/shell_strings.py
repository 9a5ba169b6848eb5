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
    "0x1f", "1e3", "é", "日本", "é=x", "x~é", "⚠\ufe0f", "🕵\ufe0f\u200d♂\ufe0f", "👍🏽",
    "1\ufe0f\u20e3", "\u2018a\u2019", "\u2013",
]  # fmt: skip
_GLOBS = [
    "*", "?", "[ab]", "[a-z]*", "*.py", "src/**/*.py", "[!a]", "[^a]", "[", "]", "[[:alpha:]]",
]  # fmt: skip
_ODD = [
    "~", "~/x", "{a,b}", "{1..3}", "{", "}", "!x", "#", "#x", "$", "$x", "${x}", "$(c1)", "`c1`",
    "$((1))", "$'a'", '$"a"', "é~", "~é", "$é", "é{a,é}", "\u200b", "\u200d", "\ufe0f", "\u202e",
    "\u00a0", "\ue000", "<(c1)", "(", ")", "a=~/x", ":~", "\\",
    "a~", "=~", "<", ">", ">x", "{a}>x", "=(a)", "a#b", "$IFS", "\x01", "\x7f", "\r", "\v", "\f",
]  # fmt: skip
_INSIDE = [
    *"ab01 *?[]{}~!#$`\"'\\|&;<>()\n\t.,:-=/^%@", "\\n", "\\.", "\\$", '\\"', "\\`", "\\\\", "$|",
    "é", "日", "⚠\ufe0f", "👩\u200d💻", "\u00a0",
]  # fmt: skip
_ESCAPED = [*string.punctuation * 3, *string.ascii_letters, *" ;;;()()\t\n       "]
_BETWEEN = [" "] * 50 + ["  ", "\t", " \\\n  ", " \\\n", "\\\n", "\\\n ", "\\\t", " \t "]
_JOINS = [
    " | ", "|", " |", "| ", " && ", "&&", " || ", "||", "; ", ";", " ; ", "\n", "\n\n", " &&\n  ",
    "|\n", " | \\\n ", " # note\n", "\n# it's\n", ";\n", "; # x\n", " &&# x\n", "&& \n\n ",
    " |& ", "|&", " |&\n ",
]  # fmt: skip
_BAD_JOINS = [
    " & ", "&", " | & ", "|&|", "|&&", ";;", "\n| ", "; ; ", " && ; ", "&& ||", "\r\n", "\\\n",
    " \\\n", " #",
]  # fmt: skip
_REDIRECTS = [
    " 2>/dev/null", " >/dev/null", " 2>&1", " &>/dev/null", " > /dev/null", " 2> /dev/null",
    " >/dev/null 2>&1", " 2>&1 >/dev/null", " &> \\\n /dev/null", " 2>&1 2>/dev/null",
    " >&2", " 1>&2", " >>/dev/null", " 2>>/dev/null", " &>>/dev/null", " >> /dev/null",
    " 1>/dev/null", " 1>>/dev/null", " 2>/dev/null >&2", " >&2 2>/dev/null", " 2>&1 >&2",
    " >/dev/null >&2", " >&2 2>&1",
]  # fmt: skip
_BAD_REDIRECTS = [
    ">/dev/null", "2>/dev/null", "2>&1", " >x", ">>/dev/null", " </dev/null", " 2>& 1", " 2 >&1",
    " 2>&2", " 2>&1x", " 11>/dev/null", " >|/dev/null", ">&2", " 2>\n/dev/null", " >/dev/nullx",
    " >/dev/null'x'", " 2>'/dev/null'", " 2>\\\n/dev/null", " 2\\\n>/dev/null", "&>>/dev/null",
    " <<<a", " >/dev/null>/dev/null", " 2&>/dev/null", " 22>/dev/null", " 2>&1-", " >& 2", " >&2x",
    " {a}>/dev/null", " > # x\n/dev/null", " 12>&1", " 1>&1", " >&2-", " >&'2'", " 2>>&1", " >>&2",
    " 2>>\n/dev/null", " >\\\n&2", " >>/dev/null2>&1", " >&2>/dev/null",
]  # fmt: skip
_OPENINGS = [" <<'E'", ' <<"E"', " <<E", " << 'E'", " <<-'E'", " <<-E", ' <<- "E"']
_BAD_OPENINGS = [
    "<<'E'", " <<\\E", " <<'E'F", " 0<<'E'", " 3<<'E'", " <<$E", " <<'E F'", " <<''", " <<<'E'",
    " <<\n'E'", " <<'E\"", " <<'E' <<'E'", " <<\\\n'E'", " <<E'E'", " < <'E'", " <<'E'>/dev/null",
    " <<É", " <<-\\\nE",
]  # fmt: skip
_LINES = [
    "", "", "a", "it's", '"', "'", "a b  ", "\ta", "\t\t a", " E", "E ", "EE", "'E'", "E\\", ")",
    ')"', "$(", "#", "a # b", "<<E", "<<'E'", "c1 | c2", "&& c3", "é ⚠\ufe0f", "*", "a\u00a0b",
    "c1 >x", "{", "}", "done", "E)", "E a)", "\tE)", "(E)",
]  # fmt: skip
_EXPANDED_LINES = ["$x", "`c1`", "$(c1)", "a\\", "\\$", "a\\\\", "$", "${x:-E}"]
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
_SOUP = [*"cc112 aab \n\t  ''\"\"\\\\||&&;;>#$`*?[]{}()~!=<,-./2é", "<<'E'", "E", "\nE\n"]


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
    text = random.choice(["", "", "", " ", "\n", "# note\n"])
    below: list[str] = []
    while True:
        text += _command(random)
        if random.random() < 0.10:
            opening, body = _here_document(random)
            text += opening
            below.append(body)
            if random.random() < 0.2:
                text += random.choice(_BETWEEN) + _word(random)
        if random.random() > 0.45:
            break
        join = random.choice(_BAD_JOINS if random.random() < 0.05 else _JOINS)
        if below and "\n" in join:
            before, _, behind = join.partition("\n")
            join = "".join([before, "\n", *below, behind])
            below = []
        text += join
    if below:
        return "".join([text, random.choice(["", "", " # end", ";"]), "\n", *below]).removesuffix(
            random.choice(["", "\n"])
        )
    return text + random.choice(["", "", "", "\n", ";", " # end", " "])


def _here_document(random: Random) -> tuple[str, str]:
    """How it is announced on the line, and what stands below that."""
    opening = random.choice(_BAD_OPENINGS if random.random() < 0.15 else _OPENINGS)
    end = "E" if random.random() < 0.95 else random.choice(["E ", " E", "\tE", "e", "'E'", ""])
    if "-" in opening:
        end = random.choice(["", "\t", "\t\t"]) + end
    return opening, f"{_body(random)}{end}\n"


def _body(random: Random) -> str:
    lines = random.choices(_LINES, k=random.choice([0, 1, 1, 2, 3, 4]))
    if random.random() < 0.3:
        lines.insert(random.randrange(len(lines) + 1), random.choice(_EXPANDED_LINES))
    return "".join(f"{line}\n" for line in lines)


def _message(random: Random) -> str:
    """A text of several lines as one word, as people write it for `git commit -m`."""
    opening = random.choice(["<<'E'", "<<'E'", '<<"E"', "<<E", "<<-'E'", "<< 'E'"])
    before, behind = '"$(cat ', ')"'
    if random.random() < 0.15:
        before = random.choice(
            ['"x$(cat ', "$(cat ", '"$( cat ', '"$(cat -n ', '"$(c1; cat ', '"`cat ']
        )
    if random.random() < 0.15:
        behind = random.choice([' )"', '\n)"', ') x"', ")", ')""', '; c1)"', '`"', ")'\""])
    end = "E\n" if random.random() < 0.95 else random.choice(["E", "E \n", "\tE\n"])
    return f"{before}{opening}\n{_body(random)}{end}{behind}"


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
    if kind < 0.02:
        return _message(random)
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
