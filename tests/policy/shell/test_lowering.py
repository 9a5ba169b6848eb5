"""Which shell strings are plain, what they come to, and why the others are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.policy.shell.doubts import MAX_BYTES, MAX_BYTES_WITH_TEXTS, MAX_STEPS
from handrail.policy.shell.lowering import lower
from handrail.policy.shell.script import Join, NotPlain, Script, Step, Stream, Word


def argv(*words: str | Word, join: Join = Join.FIRST) -> Step:
    return Step(tuple(Word(one) if isinstance(one, str) else one for one in words), join)


def pattern(text: str) -> Word:
    return Word(text, is_pattern=True)


def then(*words: str | Word) -> Step:
    return argv(*words, join=Join.THEN)


def pipe(*words: str | Word) -> Step:
    return argv(*words, join=Join.PIPE)


def both(*words: str | Word) -> Step:
    return argv(*words, join=Join.AND)


def either(*words: str | Word) -> Step:
    return argv(*words, join=Join.OR)


def plain(text: str) -> tuple[Step, ...]:
    script = lower(text)
    assert isinstance(script, Script), script
    return script.steps


def why_not(text: str) -> str:
    script = lower(text)
    assert isinstance(script, NotPlain), script
    return script.reason


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("git status", ["git", "status"]),
        ("  git\t status  ", ["git", "status"]),
        ("ls", ["ls"]),
        ("./run.sh --fast", ["./run.sh", "--fast"]),
        ("sed -n 1,80p file", ["sed", "-n", "1,80p", "file"]),
        ("head -20 a", ["head", "-20", "a"]),
        ("date +%Y-%m-%d", ["date", "+%Y-%m-%d"]),
        ("env A=1 b=", ["env", "A=1", "b="]),
        ("a =b c==d", ["a", "=b", "c==d"]),
        ("a - -- -", ["a", "-", "--", "-"]),
        ("a if then [[ time", ["a", "if", "then", "[[", "time"]),
        ("cd src", ["cd", "src"]),
        ("test -f foo", ["test", "-f", "foo"]),
    ],
)
def test_a_simple_command_is_its_words(text: str, words: list[str]) -> None:
    assert plain(text) == (argv(*words),)


@pytest.mark.parametrize(
    "words",
    [["eval", "rm x"], ["test", "-v", "a[$(x)]"], ["let", "a[$(x)]"], ["trap", "rm x", "0"]],
)
def test_what_only_a_shell_would_evaluate_stays_a_word(words: list[str]) -> None:
    name, *rest = words
    quoted = [f"'{word}'" for word in rest]
    assert plain(" ".join([name, *quoted])) == (argv(*words),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a 'b c'", ["a", "b c"]),
        ("a ''", ["a", ""]),
        ('a ""', ["a", ""]),
        ("a '$x `y` \\ \"!\" *'", ["a", '$x `y` \\ "!" *']),
        ('a "b c"', ["a", "b c"]),
        ('a "it\'s"', ["a", "it's"]),
        (r'a "\.py\|x\b"', ["a", r"\.py\|x\b"]),
        (r'a "\"\$\`\\"', ["a", '"$`\\']),
        (r'a "\!"', ["a", r"\!"]),
        ('a "Fix it!"', ["a", "Fix it!"]),
        ('a "^x$"', ["a", "^x$"]),
        (r'a "x$\|y$|z$ "', ["a", r"x$\|y$|z$ "]),
        ('a "~ {b,c} * ? [d] # & | ; < > ( )"', ["a", "~ {b,c} * ? [d] # & | ; < > ( )"]),
        ("a 'one\ntwo\tthree'", ["a", "one\ntwo\tthree"]),
        ('a "one\n\ntwo"', ["a", "one\n\ntwo"]),
        ("a 'one\\\ntwo'", ["a", "one\\\ntwo"]),
        ("a 'é 日' \"ü\"", ["a", "é 日", "ü"]),
        ("a '\xa0' \"b\u3000c\" '\ue0b0'", ["a", "\xa0", "b\u3000c", "\ue0b0"]),
        ("a --x='b'c\"d\"", ["a", "--x=bcd"]),
        (r"a 'it'\''s'", ["a", "it's"]),
        ("a ''b''", ["a", "b"]),
    ],
)
def test_quotes_are_taken_away_and_what_they_hold_stays(text: str, words: list[str]) -> None:
    assert plain(text) == (argv(*words),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            r"find . \( -name a \) -exec b {} \;",
            ["find", ".", "(", "-name", "a", ")", "-exec", "b", "{}", ";"],
        ),
        (r"find . \! -name a", ["find", ".", "!", "-name", "a"]),
        ("find . ! -name a", ["find", ".", "!", "-name", "a"]),
        (r"cat my\ file", ["cat", "my file"]),
        (
            r"a \* \? \[b\] \\ \' \" \$x \# \~",
            ["a", "*", "?", "[b]", "\\", "'", '"', "$x", "#", "~"],
        ),
        (r"a b\|c \& \> \{b,c\}", ["a", "b|c", "&", ">", "{b,c}"]),
    ],
)
def test_a_backslash_makes_the_next_mark_a_mark(text: str, words: list[str]) -> None:
    assert plain(text) == (argv(*words),)


@pytest.mark.parametrize(
    "word",
    [
        "é",
        "x/日本.md",
        "Grüße",
        "⚠\ufe0f",
        "🕵\ufe0f\u200d♂\ufe0f",
        "👍🏽x",
        "1\ufe0f\u20e3",
        "\u2026",
    ],
)
def test_letters_and_emoji_mean_themselves_with_and_without_quotes(word: str) -> None:
    expected = (argv("a", word, word, word, f"x{word}"),)
    assert plain(f"a {word} '{word}' \"{word}\" x{word} # {word}") == expected


def test_a_pattern_may_hold_letters_beyond_ascii() -> None:
    assert plain("ls é*.日") == (argv("ls", pattern("é*.日")),)


@pytest.mark.parametrize("name", ["'git' x", '"git" x', "g''it x", 'gi"t" x'])
def test_a_spliced_name_is_the_name(name: str) -> None:
    assert plain(name) == (argv("git", "x"),)


@pytest.mark.parametrize(
    "word",
    ["HEAD~1", "HEAD~", "HEAD^", "HEAD^2~3", "@~1", "main~2..main", "HEAD@{1}", "stash@{0}", "@{u}",
     "@{u}..HEAD", "origin/main@{yesterday}", "main...x", "HEAD:src/x.py", ":/x", "a@b.c:d"],
)  # fmt: skip
def test_revisions_of_git_stay_as_they_are(word: str) -> None:
    assert plain(f"git show {word}") == (argv("git", "show", word),)


@pytest.mark.parametrize(
    "word",
    ["*", "*.py", "src/*.py", "src/**/*.py", "a?", "[ab]", "[a-z]*", "x[^a]"],
)
def test_an_unquoted_pattern_is_known_as_one(word: str) -> None:
    assert plain(f"wc -l {word}") == (argv("wc", "-l", pattern(word)),)


def test_quotes_beside_a_pattern_are_taken_away() -> None:
    assert plain("ls 'my dir'/*.py") == (argv("ls", pattern("my dir/*.py")),)
    assert plain(r"ls my\ dir/*.py") == (argv("ls", pattern("my dir/*.py")),)


@pytest.mark.parametrize("word", ["'*'", '"*.py"', r"\*", "[", "]", "a]b[", r"\[a\]", "'[a]'"])
def test_a_quoted_pattern_or_half_a_bracket_is_none(word: str) -> None:
    (step,) = plain(f"ls {word}")
    assert not step.words[1].is_pattern


@pytest.mark.parametrize("word", ["--include=*.py", "-name=[a]", "-?", "'-'*"])
def test_behind_a_dash_nothing_is_a_pattern(word: str) -> None:
    (step,) = plain(f"grep {word}")
    assert step.words[1] == Word(word.replace("'", ""))


@pytest.mark.parametrize("word", ["'*'*", r"\**", "[a'-'z]", r"[\!a]", "*'['", "a'b'[c]", "*'\\'"])
def test_a_pattern_of_which_a_part_is_quoted_is_not_plain(word: str) -> None:
    assert "a part is quoted" in why_not(f"ls {word}")


def test_steps_follow_on_each_other_as_the_operators_say() -> None:
    expected = (argv("a"), pipe("b", "x"), both("c"), either("d"), then("e"), then("f"))
    assert plain("a | b x && c || d ; e\nf") == expected
    assert plain("a|b x&&c||d;e;f;") == expected
    assert plain("\n\na |\n b x &&\n\n c ||\n d\n\ne ;\n f\n") == expected


@pytest.mark.parametrize(
    "text",
    ["a \\\n  b", "a \\\nb", "a\t\\\n\\\n b", "a b # c", "a b #", "# c\na b", "a b;# c",
     "a b # it's \"odd\" $(x) \\", "\n# c\n\n# d\na b\n# e"],
)  # fmt: skip
def test_broken_lines_and_comments_are_no_words(text: str) -> None:
    assert plain(text) == (argv("a", "b"),)


def test_a_comment_ends_with_its_line() -> None:
    assert plain("a # b \\\nc") == (argv("a"), then("c"))
    assert plain("a && # b\nc") == (argv("a"), both("c"))


OUT, ERR, NULL = Stream.OUT, Stream.ERR, Stream.NULL


@pytest.mark.parametrize(
    ("redirections", "stdout", "stderr"),
    [
        ("", OUT, ERR),
        ("2>/dev/null", OUT, NULL),
        ("2> /dev/null", OUT, NULL),
        (">/dev/null", NULL, ERR),
        ("> /dev/null", NULL, ERR),
        ("2>&1", OUT, OUT),
        ("&>/dev/null", NULL, NULL),
        (">/dev/null 2>&1", NULL, NULL),
        ("2>&1 >/dev/null", NULL, OUT),
        ("2>&1 2>/dev/null", OUT, NULL),
        (">/dev/null 2>/dev/null", NULL, NULL),
        ("1>/dev/null", NULL, ERR),
        (">>/dev/null", NULL, ERR),
        (">> /dev/null", NULL, ERR),
        ("1>>/dev/null", NULL, ERR),
        ("2>>/dev/null", OUT, NULL),
        ("&>>/dev/null", NULL, NULL),
        (">&2", ERR, ERR),
        ("1>&2", ERR, ERR),
        (">&2 2>/dev/null", ERR, NULL),
        ("2>/dev/null >&2", NULL, NULL),
        ("2>&1 >&2", OUT, OUT),
        (">&2 2>&1", ERR, ERR),
        (">/dev/null >&2", ERR, ERR),
    ],
)
def test_harmless_redirections_say_where_a_step_writes(
    redirections: str, stdout: Stream, stderr: Stream
) -> None:
    step = Step((Word("a"), Word("b")), Join.FIRST, stdout, stderr)
    assert plain(f"a b {redirections}") == (step,)
    assert plain(f"a {redirections} b") == (step,)
    assert plain(f"a b {redirections}|c") == (step, pipe("c"))
    assert plain(f"x && a b {redirections}; c")[1:] == (
        Step(step.words, Join.AND, stdout, stderr),
        then("c"),
    )


@pytest.mark.parametrize(
    ("redirections", "stdout", "stderr"),
    [
        ("", OUT, OUT),
        ("2>/dev/null", OUT, OUT),
        (">/dev/null", NULL, NULL),
        (">&2", ERR, ERR),
        ("2>&1 >/dev/null", NULL, NULL),
    ],
)
def test_a_pipe_for_both_streams_joins_them_after_all_redirections(
    redirections: str, stdout: Stream, stderr: Stream
) -> None:
    step = Step((Word("a"),), Join.FIRST, stdout, stderr)
    assert plain(f"a {redirections} |& b") == (step, pipe("b"))
    assert plain(f"a {redirections}|&\n b") == (step, pipe("b"))


def reading(text: str, *words: str, join: Join = Join.FIRST) -> Step:
    return argv(*words, join=join)._replace(stdin=text)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("a b <<'EOF'\nEOF", ""),
        ("a b <<'EOF'\n\nEOF", "\n"),
        ("a b <<'EOF'\none\n two\nEOF\n", "one\n two\n"),
        ('a b <<"EOF"\none\nEOF', "one\n"),
        ("a b <<EOF\none\nEOF", "one\n"),
        ("a b << 'EOF'\none\nEOF", "one\n"),
        ("a <<'EOF' b\none\nEOF", "one\n"),
        ("a b <<'EOF' # it's\none\nEOF", "one\n"),
        ("a b <<'EOF'\n$x `y` $(z) \\n \\\nit's \"\n# EOF\nEOF ", None),
        (
            "a b <<'EOF'\n$x `y` $(z) \\n \\\nit's \"\n# EOF\nEOF",
            "$x `y` $(z) \\n \\\nit's \"\n# EOF\n",
        ),
        ("a b <<'EOF'\n EOF\nEOF \nEOFF\n\tEOF\nEOF", " EOF\nEOF \nEOFF\n\tEOF\n"),
        ("a b <<-'EOF'\n\t\tone\n\t two\n x\n\tEOF", "one\n two\n x\n"),
        (
            'a b <<EOF\nit\'s "quoted" & <b> | ; # é ⚠\ufe0f\nEOF',
            'it\'s "quoted" & <b> | ; # é ⚠\ufe0f\n',
        ),
        ("a b <<'EOF'\nc <<'EOF'\nEOF", "c <<'EOF'\n"),
    ],
)
def test_a_here_document_is_the_text_that_a_step_reads(text: str, given: str | None) -> None:
    if given is None:
        assert why_not(text) == "its here-document has no line that is just EOF"
    else:
        assert plain(text) == (reading(given, "a", "b"),)


def test_lines_and_steps_go_on_behind_a_here_document() -> None:
    assert plain("a <<'E' | b && c\n1\nE\nd") == (
        reading("1\n", "a"), pipe("b"), both("c"), then("d"),
    )  # fmt: skip
    assert plain("a <<'E' |\n1\nE\nb") == (reading("1\n", "a"), pipe("b"))
    assert plain("a <<'E'; b <<'F'\n1\nE\n2\nF\nc <<E\n3\nE") == (
        reading("1\n", "a"),
        reading("2\n", "b", join=Join.THEN),
        reading("3\n", "c", join=Join.THEN),
    )  # fmt: skip
    assert plain("a | b <<'E' 2>&1\n1\nE") == (
        argv("a"), reading("1\n", "b", join=Join.PIPE)._replace(stderr=OUT),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("\"$(cat <<'EOF'\nFix\n\nIt's $broken `x`\nEOF\n)\"", "Fix\n\nIt's $broken `x`"),
        ("\"$(cat <<'EOF'\nFix\n\n\nEOF\n)\"", "Fix"),
        ("\"$(cat <<'EOF'\nEOF\n)\"", ""),
        ("\"$(cat <<'EOF'\n\"a\" (b) )\nEOF\n  )\"", '"a" (b) )'),
        ('"$(cat <<EOF\nFix\nEOF\n)"', "Fix"),
        ('"$( cat <<-"EOF"\n\tFix\n\tEOF\n\n)"', "Fix"),
        ("-m\"$(cat <<'EOF'\nFix\nEOF\n)\"", "-mFix"),
    ],
)  # fmt: skip
def test_a_here_document_printed_into_a_word_is_that_word(text: str, word: str) -> None:
    assert plain(f"git commit {text}") == (argv("git", "commit", word),)
    assert plain(f"git commit {text} && b") == (argv("git", "commit", word), both("b"))


@pytest.mark.parametrize(
    "text",
    ["\"$(cat <<'E'\nx\nE\n) y\"", "\"x$(cat <<'E'\nx\nE\n)\"", "$(cat <<'E'\nx\nE\n)",
     "\"$(cat -n <<'E'\nx\nE\n)\"", "\"$(cat <<'E' | b\nx\nE\n)\"", "\"$(cat <<'E'\nx\nE\nb)\"",
     "\"$(cat <<'E'\nx\nE y)\nE\n)\"", "\"$(tac <<'E'\nx\nE\n)\""],
)  # fmt: skip
def test_other_outputs_of_commands_stay_unknown(text: str) -> None:
    assert why_not(f"a {text}") == "it uses the output of a command as arguments"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a <<E\n$x\nE", "which bash may expand"),
        ("a <<E\n`x`\nE", "which bash may expand"),
        ("a <<E\nx\\\nE\nE", "which bash may expand"),
        ('a "$(cat <<E\n$x\nE\n)"', "which bash may expand"),
        ("a <<'E'\nx", "no line that is just E"),
        ("a <<'E'\nx\nEE\n\tE\n", "no line that is just E"),
        ("a <<'E' <<'F'\n1\nE\n2\nF", "two here-documents for one command"),
        ("a<<'E'\n1\nE", "unusual form"),
        ("a 0<<'E'\n1\nE", "unusual form"),
        ("a <<\\E\n1\nE", "unusual form"),
        ("a <<'E'F\n1\nEF", "unusual form"),
        ("a <<'E F'\n1\nE F", "unusual form"),
        ("a <<'E'", "unusual form"),
        ("a; <<'E'\n1\nE", "no command before it reads"),
        ("a <<'E' $x\n1\nE", "it uses a variable"),
        ("a <<'E'\n1\nE\nb $x", "it uses a variable"),
        ("a <<'E' >f\n1\nE", "it redirects output to a file"),
        ("a <<'E' 'x\ny'\n1\nE", "cannot be told from the rest"),
        ("a <<'E' \\\n b\n1\nE", "cannot be told from the rest"),
        ("a <<'E' \"$(cat <<'F'\n1\nE\n2\nF\n)\"", "the output of a command"),
        ("a \"b <<'E'\n$x\nE\n\"", "it uses a variable"),
        ('a "$y" <<\'E\'\n"\nE\n', "it uses a variable"),
        ("(a <<'E'\n1\nE\n)", "it has a subshell"),
        ("a <<'E' &\n1\nE", "in the background"),
        ("a <<'E'\n1\u200b\nE", "control or invisible"),
        ("a <<'E'\n\x1b[2J\nE", "control or invisible"),
    ],
)
def test_other_here_documents_are_not_plain(text: str, reason: str) -> None:
    assert reason in why_not(text)


def test_a_here_document_may_be_longer_than_a_line() -> None:
    body = "é" * 40_000 + "\n"
    assert plain(f"a <<'E'\n{body}E\n") == (reading(body, "a"),)
    assert why_not(f"a <<'E'\n{body}{body}E\n") == "it is longer than 100,000 bytes"


@pytest.mark.parametrize(
    "text",
    ["a >x", "a >>x", "a <x", "a 2>x", "a >/dev/null.x", "a >/dev/nul", "a >'/dev/null'", "a >|x",
     "a >&2x", "a 1>&1", "a >& 2", "a >&'2'", "a 12>&1", "a 21>&2", "a 11>/dev/null",
     "a >>'/dev/null'", "a 2>>x", "a 2>&1x", "a 2>&2", "a 2>& 1", "a 2>&-", "a >&-",
     "a 22>/dev/null", "a>>/dev/null", "a </dev/null", "a &>>x", "a &>x", "a>/dev/null",
     "a2>/dev/null", "a b2>&1", "a {x}>/dev/null", "a 2>/dev/null>/dev/null", ">/dev/null a",
     "2>&1 a", ">/dev/null", "a && >/dev/null", "a 2>\n/dev/null", "a >!x", "a >/dev/null/../x",
     "a <>x", "a 2>/dev/*"],
)  # fmt: skip
def test_every_other_redirection_is_not_plain(text: str) -> None:
    assert why_not(text) in (
        "it redirects output to a file",
        "it redirects output other than with 2>&1 and >&2",
        "it reads input from a file",
        "it cannot be read as bash",
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("echo $x", "it uses a variable"),
        ('echo "$x"', "it uses a variable"),
        ("$x a", "it uses a variable"),
        ("echo ${x}", "it uses a variable"),
        ("echo ${x@P}", "it uses a variable"),
        ("echo ${!x}", "it uses a variable"),
        ("rm${IFS}-rf", "it uses a variable"),
        ("echo $?", "it uses a variable"),
        ("echo $(id)", "it uses the output of a command as arguments"),
        ('echo "$(id)"', "it uses the output of a command as arguments"),
        ("$(echo touch) x", "it uses the output of a command as arguments"),
        ("echo `id`", "it uses the output of a command as arguments"),
        ('git log --grep="$(id)"', "it uses the output of a command as arguments"),
        ("diff <(a) b", "it uses process substitution"),
        ("tee >(a)", "it uses process substitution"),
        ("echo $((1+1))", "it uses shell arithmetic"),
        ("echo $[ 1 ]", "it uses shell arithmetic"),
        ("echo $[ x='a[$(touch F)]', x ]", None),
        ("((x=1))", "it has a subshell, or an unquoted ("),
        ("a $'x'", "it has a $ outside single quotes"),
        ("a x$", "it has a $ outside single quotes"),
        ('a $"x"', "it has a $ outside single quotes"),
        ("a ~", "it names a home folder with ~, which only a shell expands to a path"),
        ("ls ~/x", "it names a home folder with ~, which only a shell expands to a path"),
        ("a x=~/y", "it names a home folder with ~, which only a shell expands to a path"),
        ("a x:~/y", "it names a home folder with ~, which only a shell expands to a path"),
        ("ls {a,b}", "it has braces that bash may expand (write the words out, or quote them)"),
        ("ls x{a,b}y", "it has braces that bash may expand (write the words out, or quote them)"),
        ("ls {1..3}", "it has braces that bash expands (write the words out)"),
        ("ls {a..c}", "it has braces that bash may expand (write the words out, or quote them)"),
        ("rm -{r,f}", "it has braces that bash may expand (write the words out, or quote them)"),
        ("a !b", "it has an unquoted !"),
        ("! a", "it uses the shell keyword !"),
        ("a !(b)", None),
        ("a +(b)", None),
        ("X=1 a", "it sets a variable"),
        ("X=1", "it sets a variable"),
        ("X+=1 a", "it sets a variable"),
        ("x[0]=1 a", "it sets a variable"),
        ("PATH=. ls", "it sets a variable"),
        ("a x=(1)", None),
        ("(a)", "it has a subshell, or an unquoted ("),
        ("a; (b; c)", "it has a subshell, or an unquoted ("),
        ("{ a; }", "it uses the shell keyword {"),
        ("f() { a; }", "it defines a function"),
        ("function f { a; }", "it uses the shell keyword function"),
        (":(){ :|:& };:", "it defines a function"),
        ("a &", "it runs a command in the background"),
        ("a & b", "it runs a command in the background"),
        ("a&b", "it runs a command in the background"),
        ("|& b", "it cannot be read as bash"),
        ("a |&", "it cannot be read as bash"),
        ("a | & b", "it cannot be read as bash"),
        ("a <<<b", "it has a here-string"),
        ("if a; then b; fi", "it uses the shell keyword if"),
        ("for x in a; do b; done", "it uses the shell keyword for"),
        ("while a; do b; done", "it uses the shell keyword while"),
        ("until a; do b; done", "it uses the shell keyword until"),
        ("case a in b) c;; esac", "it has an unquoted )"),
        ("select x in a; do b; done", "it uses the shell keyword select"),
        ("[ -f a ]", "it has a test in brackets"),
        ("[[ a ]]", "it uses the shell keyword [["),
        ("export A=1", "it changes the state of the shell"),
        ("declare -n x=y", "it changes the state of the shell"),
        ("typeset x", "it changes the state of the shell"),
        ("readonly x", "it changes the state of the shell"),
        ("unset x", "it changes the state of the shell"),
        ("time a", "it uses the shell keyword time"),
        ("a | time b", "it uses the shell keyword time"),
        ("coproc a", "it uses the shell keyword coproc"),
        ("a; then b", "it uses the shell keyword then"),
        ("'if' a", "it uses the shell keyword if"),
        ("l* a", "the name of a command is a pattern"),
        ("'' a", "the name of a command has unusual characters"),
        ("'ls ' a", "the name of a command has unusual characters"),
        ("'a b' c", "the name of a command has unusual characters"),
        ("%1", "the name of a command has unusual characters"),
        (": a", "the name of a command has unusual characters"),
        ("é a", "the name of a command has unusual characters"),
        ("🙂 a", "the name of a command has unusual characters"),
        ("a x#y", "it has an unquoted # inside a word"),
        (r"r\m a", "it has a backslash before a letter, a digit, a tab or the end of a line"),
        ("a \\\tb", None),
        ("find . -ex\\\nec ./x", "a line is broken inside a word"),
        ("find . -ex\\\n ec ./x", "a line is broken inside a word"),
        ("r\\\nm x", "a line is broken inside a word"),
        ("\\\nls", "a line is broken inside a word"),
        ("a |\\\n| b", None),
        ("a &\\\n& b", None),
        ('a "b\\\nc"', None),
        ("a 'b", "it cannot be read as bash"),
        ('a "b', "it cannot be read as bash"),
        ("a b\\", "it cannot be read as bash"),
        ("a &&", "it cannot be read as bash"),
        ("a |", "it cannot be read as bash"),
        ("&& a", "it cannot be read as bash"),
        ("; a", "it cannot be read as bash"),
        ("a ; ; b", "it cannot be read as bash"),
        ("a\n| b", "it cannot be read as bash"),
        ("a\n&& b", "it cannot be read as bash"),
        ("a ;; b", None),
        ("a && || b", None),
        ("a )", None),
        ("a (b)", None),
        ("", "there is no command in it"),
        (" \n\t", "there is no command in it"),
        ("# a", "there is no command in it"),
        ("a ^b | c ^& del x", None),
    ],
)
def test_what_is_not_plain_says_why(text: str, reason: str | None) -> None:
    found = why_not(text)
    assert reason is None or found == reason


@pytest.mark.parametrize(
    "char",
    ["\0", "\r", "\v", "\f", "\x01", "\x1b", "\x1e", "\x7f", "\x80", "\x85", "\xad", "\u200b",
     "\u200d", "\u200e", "\u202e", "\u2028", "\u2060", "\u2066", "\u3164", "\ufeff", "\ufe0f",
     "\U000e0041", "\ud800"],
)  # fmt: skip
@pytest.mark.parametrize(
    "text", ["a {}", "a{}b", "a '{}'", 'a "{}"', "a # {}", "a{};b", "a <{}0", "a <<'E'\n{}\nE"]
)
def test_what_cannot_be_seen_is_never_plain(text: str, char: str) -> None:
    assert why_not(text.format(char)) == "it has control or invisible characters"


@pytest.mark.parametrize("char", ["\xa0", "\u2003", "\u202f", "\u3000", "\ue000"])
@pytest.mark.parametrize("text", ["a {}", "a{}b", "a{};b", "a 'b'{}c"])
def test_spaces_that_bash_does_not_know_are_not_plain_outside_quotes(text: str, char: str) -> None:
    found = why_not(text.format(char))
    assert found == "it has unusual spaces or private characters outside quotes"


def test_a_long_string_is_not_plain() -> None:
    assert plain("a " + "b" * (MAX_BYTES - 2))
    assert why_not("a " + "b" * (MAX_BYTES - 1)) == "it is longer than 8,192 bytes"
    assert why_not("a '" + "é" * (MAX_BYTES // 2) + "'") == "it is longer than 8,192 bytes"


def test_too_many_steps_are_not_plain() -> None:
    assert len(plain(";".join(["a"] * MAX_STEPS))) == MAX_STEPS
    assert why_not(";".join(["a"] * (MAX_STEPS + 1))) == "it has more than 16 steps"
    assert why_not("|".join(["a"] * 51)) == "it has more than 16 steps"


def test_a_thicket_of_marks_is_not_plain() -> None:
    assert plain("a " + "*" * 128)
    assert why_not("a " + "*" * 129) == "it has more than 128 operators and other marks"
    assert plain("a '" + "*" * 1_000 + "'")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece",
    ["a?", "a|", "))", "a=(", "${", "<<a\n", "[[\\\n", "if {", ";#", "![^]", '"\n"', " <<a\na\n",
     "\"$(cat <<'a'\na\n)\"", "b <<'a' ", "'\n"],
)  # fmt: skip
@pytest.mark.parametrize("most", [MAX_BYTES, MAX_BYTES_WITH_TEXTS])
def test_no_string_takes_it_long(piece: str, most: int) -> None:
    lower(piece * (most // len(piece)))


@given(st.text(max_size=60) | st.text(alphabet="ab '\"\\|&;<>$`(){}[]*?~#!=-/.\n\t2", max_size=30))
def test_every_string_gets_an_answer(text: str) -> None:
    read = lower(text)
    if isinstance(read, NotPlain):
        assert read.reason.isprintable()
    else:
        assert all(step.words and not step.words[0].is_pattern for step in read.steps)
        assert [step.join is Join.FIRST for step in read.steps] == [
            not place for place in range(len(read.steps))
        ]
