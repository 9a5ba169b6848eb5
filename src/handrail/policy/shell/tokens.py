"""The tokens of bash as far as a detector needs them; nothing that a string could make slow."""

import re

# One token where commands stand. Every branch takes what it takes at once or not at all.
IN_COMMAND = re.compile(
    r"""
      (?P<nothing> \\\n )
    | \\ (?P<escaped> . )
    | ' (?P<single> [^']* ) (?: ' | \Z )
    | \$' (?P<ansi> (?: [^'\\] | \\. )* ) (?: ' | \Z )
    | (?P<quote> \$? " )
    | (?P<tick> ` )
    | (?P<open> [$<>]\( )
    | (?P<group> \( )
    | (?P<close> \) )
    | \$\{ (?P<array> \w+ ) (?: \[ [@*] \] )? \}
    | (?P<brace> \$\{ )
    | \$ (?P<variable> \w+ )
    | (?P<here_string> <<< )
    | << (?P<here> -? [ \t]* (?: '[^'\n]*' | "[^"\n]*" | \\? [^\s'"|&;()<>`$\\]+ ) )
    | (?P<redirect> (?: &>>? | [<>]& | >> | >\| | <> | [<>] ) [ \t]* )
    | (?P<newline> \n )
    | (?P<cases> ;; &? | ;& )
    | (?P<pipe> \|&? (?! \| ) )
    | (?P<operator> && | \|\| | [;&] )
    | (?P<blank> [ \t]+ )
    | (?P<hash> \# )
    | (?P<bare> [^\s\\'"`$()<>|&;\#]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)

# One token inside double quotes, and in the body of a here-document.
IN_QUOTES = re.compile(
    r"""
      (?P<nothing> \\\n )
    | \\ (?P<escaped> [$`"\\] )
    | (?P<end> " )
    | (?P<tick> ` )
    | (?P<open> \$\( )
    | \$\{ (?P<array> \w+ ) (?: \[ [@*] \] )? \}
    | (?P<brace> \$\{ )
    | \$ (?P<variable> \w+ )
    | (?P<bare> [^\\"`$]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)

_ANSI = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ANSI_NAMED = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def decode_ansi(text: str) -> str:
    """What stands between the quotes of `$'...'`."""
    return _ANSI.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    hexadecimal = match[1] or match[2] or match[3]
    if not hexadecimal and not match[4]:
        return _ANSI_NAMED.get(match[5], match[5])
    number = int(hexadecimal, 16) if hexadecimal else int(match[4], 8)
    return chr(number) if number < 0x110000 else ""
