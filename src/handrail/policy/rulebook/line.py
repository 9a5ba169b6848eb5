"""The words of one command, read one by one as the command would, and strictly where in doubt.

Nothing here looks at paths: which words may name files is part of what is read.
"""

from collections.abc import Iterable, Sequence

from handrail.core.box import Profile, widest
from handrail.core.risk import Finding, Layer, RiskLevel, forbidden, worst
from handrail.policy.rulebook import concerns
from handrail.policy.rulebook.additions import Place, additions
from handrail.policy.rulebook.bound import bound_files, in_each_of, is_handed_code
from handrail.policy.rulebook.command import CommandRule, Text
from handrail.policy.rulebook.flags import (
    MOST_IN_CLUSTER,
    also_meant,
    ends_flags,
    names_in,
    possible_values,
    unclear_in,
    value_in,
)
from handrail.policy.rulebook.inner import (
    ELSEWHERE,
    FOUND,
    Inner,
    end_of_inner,
    further_words,
    glued_in,
    handed_on,
    hidden_in,
    if_found,
    if_unseen,
    is_unseen,
    not_known,
    unclear_scripts,
    unseen_commands,
    unseen_in,
)
from handrail.policy.rulebook.leading import refuse_leading
from handrail.policy.rulebook.modules import files_of_module, isolation, read_module
from handrail.policy.rulebook.reading import FileWord, Reading, shown, total
from handrail.policy.rulebook.spelling import (
    ADDRESS,
    ASSIGNMENT,
    code_in_address,
    refusal_of_a_shells,
)


class Line:
    """The words behind a command's name, under one rule. The first stands at `at` in the line."""

    def __init__(
        self,
        rule: CommandRule,
        title: str,
        words: Sequence[str],
        at: int,
        inner: Inner,
        homes: Sequence[str] = (),
    ):
        self._rule = rule
        self._title = title
        self._rule_name = concerns.rule_of(title)
        self._words = words
        self._at = at
        self._run_by = inner
        self._next = 0
        self._findings: list[Finding] = []
        self._operands: list[str] = []
        self._files: list[str] = []
        self._plain_files: list[str] = []
        self._scripts: list[str] = []
        self._homes = [*homes]
        self._inner: list[Reading] = []
        self._sub: Reading | None = None
        self._end_of_flags: int | None = None
        self._has_no_text = False
        self._may_have_more = False
        self._runs_all = False
        self._module: str | None = None
        self._placeholders: list[str] = []
        self._named: set[str] = set()
        self._is_broad = rule.broad or rule.runs is not None
        self._leads_elsewhere = False

    def read(self) -> Reading:
        rule = self._rule
        if rule.risk is RiskLevel.FORBIDDEN:
            refusal = concerns.not_allowed(f"{self._title} {rule.reason}")
            return Reading((refusal.by(rule.layer),))
        self._findings += refuse_leading(rule, self._title, self._words)
        while self._next < len(self._words):
            self._take(self._pop())
        self._sort_operands()
        return self._reading()

    def _pop(self) -> str:
        self._next += 1
        return self._words[self._next - 1]

    def _take(self, word: str) -> None:
        if not word.startswith("-") or word == "-":
            is_bundle = self._rule.bundled and self._next == 1
            further = names_in(f"-{word}", self._rule) if is_bundle else ()
            self._take_operand(word, [word, *further])
            return
        if self._end_of_flags is None and word in self._rule.calm:
            return
        names = names_in(word, self._rule)
        if len(names) > MOST_IN_CLUSTER and "*" not in self._rule.flags:
            reason = f"{shown(word)} is too long for flags; what a flag takes is a word of its own"
            self._findings.append(forbidden("command.spelling", reason))
        elif self._end_of_flags is not None:
            # A flag behind `--` is none, unless that `--` belonged to a flag we do not know.
            self._take_operand(word, [word, *names])
        elif ends_flags(word, self._rule):
            self._end_of_flags = self._next - 1
            self._raise_on(["--"])
        else:
            self._take_flag(word, names)

    def _take_operand(self, word: str, meant: Sequence[str]) -> None:
        rule = self._rule
        self._raise_on(meant)
        if rule.runs is not None and ASSIGNMENT.fullmatch(word):
            return
        if rule.subs:
            self._read_sub(word)
        elif rule.runs == len(self._operands):
            self._next -= 1
            self._read_inner(self._take_rest())
        else:
            self._operands.append(word)
            if rule.options_first:
                rest = self._take_rest()
                self._files += rest
                if self._runs_all:
                    self._scripts += rest
                    self._findings += hidden_in(self._rule_name, self._title, [word, *rest])

    def _take_flag(self, word: str, names: Sequence[str]) -> None:
        rule = self._rule
        unlisted = self._unlisted(word, names)
        # What follows a flag we do not know may be its value, and no text.
        self._has_no_text |= bool(unlisted) or not rule.instead.isdisjoint(names)
        self._may_have_more |= not rule.free_with.isdisjoint(names)
        self._runs_all |= not rule.scripts_with.isdisjoint(names)
        flag = rule.in_full(names[-1])
        if flag in rule.replaces:
            self._placeholders.append(self._value_ahead(word, flag))
        ahead = self._words[self._next :]
        self._findings += concerns.odd_suffix(self._title, word, flag, rule, ahead)
        if rule.takes_value(flag):
            value = self._take_value(word, flag)
            if flag in rule.runs_named:
                self._read_named(value)
        if rule.text is not Text.ALL:
            self._files += filter(None, possible_values(word, names, unlisted, rule))
        if flag in rule.runs_after:
            start, self._next = self._next, end_of_inner(self._words, self._next)
            argv = self._words[start : self._next]
            self._findings += glued_in(f"{self._title} {flag}", argv)
            self._read_inner(argv, is_elsewhere=flag in ELSEWHERE)
            self._next += 1
        if flag in rule.last:
            self._files += self._take_rest()

    def _unlisted(self, word: str, names: Sequence[str]) -> list[str]:
        """Those of the flags that nobody described; each is noted where that matters."""
        rule = self._rule
        noticed = self._raise_on([*names, *also_meant(word, rule)])
        unlisted = [name for name in names if not rule.knows(name)]
        for name in filter(lambda one: rule.is_strict and one not in noticed, unlisted):
            self._note_unknown(name)
        if why := unclear_in(word, names, rule, self._words[self._next :]):
            self._note_unknown(word, why)
        return unlisted

    def _take_value(self, word: str, flag: str) -> str:
        rule, value = self._rule, value_in(word, flag, self._rule)
        if value is None:
            value = self._pop_value()
            # To another version of the program it may be an operand.
            self._raise_on([value] if rule.letters else ())
        if rule.takes_name(flag):
            value = self._pop_value()
        if flag in rule.script_flags:
            self._scripts.append(value)
            self._findings += code_in_address(self._title, flag, value)
        if flag in rule.obeys_in:
            self._homes.append(value)
        if rule.takes_path(flag):
            self._files.append(value)
        elif flag in rule.instead:
            self._check_plain(value)
        return value

    def _value_ahead(self, word: str, flag: str) -> str:
        """What the flag takes for its value, which is not taken yet."""
        ahead = self._words[self._next : self._next + 1] if self._rule.takes_value(flag) else ()
        return value_in(word, flag, self._rule) or (ahead[0] if ahead else FOUND)

    def _pop_value(self) -> str:
        ahead = self._words[self._next : self._next + 1]
        # With `letters`, what may be a flag is read as one, in any case.
        is_there = ahead and not (self._rule.letters and ahead[0].startswith("-"))
        return self._pop() if is_there else ""

    def _raise_on(self, names: Iterable[str]) -> set[str]:
        found: set[str] = set()
        rule = self._rule
        if not rule.raises and not rule.broad_on:
            return found
        for name in names:
            self._leads_elsewhere = self._leads_elsewhere or rule.is_broad_on(name)
            self._named.add(rule.in_full(name))
            for reason in rule.raised_by(name):
                if not reason.beside or not reason.beside.isdisjoint(self._named):
                    found.add(name)
                    self._findings.append(concerns.raised(self._title, name, reason))
        return found

    def _read_sub(self, word: str) -> None:
        at = self._at + self._next
        rest = self._take_rest()
        known = self._rule.subs_named(word)
        if is_unseen(word) and self._rule.can_be_forbidden:
            self._findings.append(concerns.refused_unseen(self._title))
        if not known:
            self._note_unknown(word)
            flags = [one for one in rest if one.startswith("-")]
            self._raise_on(name for one in flags for name in names_in(one, self._rule))
            self._files += rest
            return
        title = f"{self._title} {word}"
        lines = [Line(sub, title, rest, at, self._run_by, self._homes) for sub in known]
        self._sub = total([line.read() for line in lines])

    def _read_inner(self, argv: Sequence[str], *, is_elsewhere: bool = False) -> None:
        """Read the words just taken, behind which we stand, as a command with further words."""
        if not argv:
            return
        further = further_words(self._words, self._rule)
        self._findings += unseen_commands(self._title, self._placeholders, argv[0])
        argv = [unseen_in(word, self._placeholders) for word in argv]
        self._scripts += [f"{folder}/{argv[0]}" for folder in self._rule.runs_from]
        at = self._at + self._next - len(argv)
        read = self._run_by.read([*argv, *further], at)
        self._findings += handed_on(self._rule_name, self._title, argv, further, read)
        if unclear := unclear_scripts(read, is_elsewhere=is_elsewhere):
            self._findings.append(not_known(self._rule_name, self._title, unclear[0]))
            read = read._replace(scripts=(), says_all=False)
        self._inner.append(read._replace(scripts=in_each_of(self._homes, read.scripts)))

    def _read_named(self, name: str) -> None:
        """A name that may be a command's; the words behind it are its own in any case."""
        at = self._at + self._next - 1
        rest = self._take_rest()
        self._module = name
        self._scripts += files_of_module(name)
        self._findings += hidden_in(self._rule_name, self._title, [name])
        if self._run_by.knows(name):
            self._inner.append(read_module(self._title, [name, *rest], at, self._run_by))
        else:
            self._files += rest

    def _take_rest(self) -> Sequence[str]:
        rest, self._next = self._words[self._next :], len(self._words)
        return rest

    def _sort_operands(self) -> None:
        """Only now is it certain whether the first operand is the text, or a flag gave it."""
        is_first = self._rule.text is Text.FIRST and not self._has_no_text
        texts = len(self._operands) if self._rule.text is Text.ALL else int(is_first)
        for word in self._operands[:texts]:
            self._check_plain(word)
        self._plain_files = self._operands[texts:]
        self._files += self._plain_files
        if self._rule.script:
            self._scripts += self._operands[:1]
        most = self._rule.operands
        if most is not None and len(self._operands) > most and not self._may_have_more:
            self._note_unknown(self._operands[most], self._rule.beyond)

    def _check_plain(self, text: str) -> None:
        if not self._rule.is_plain(text):
            self._raise_on([text])
            self._note_unknown(text)

    def _note_unknown(self, word: str, reason: str = "") -> None:
        self._findings.append(concerns.unknown(self._title, word, self._rule, reason))

    def _reading(self) -> Reading:
        rule, findings = self._rule, self._findings
        if rule.risk > RiskLevel.LOW and self._sub is None:
            findings.insert(0, Finding(self._rule_name, f"{self._title} {rule.reason}", rule.risk))
        if rule.layer is Layer.PROJECT:
            # What its words mean is known to the rule that lists the command.
            own = Reading(concerns.by_layer(findings, rule.layer), kind=self._kind())
        else:
            findings += filter(None, map(refusal_of_a_shells, self._files))
            risk = worst(findings)
            changes = risk > RiskLevel.LOW
            profile = self._profile(changes=changes)
            own = Reading(
                concerns.by_layer(findings, rule.layer),
                tuple([FileWord(word, changes, changes and rule.writes) for word in self._files]),
                self._kind(),
                profile,
                additions(
                    rule,
                    Place(self._at, self._words, self._end_of_flags),
                    is_alone=len(self._operands) == 1,
                    is_high=risk >= RiskLevel.HIGH,
                )
                + isolation(self._module, self._at),
                scripts=bound_files(rule, self._scripts, self._homes),
                says_all=self._says_all(),
                loads=rule.loads_at(risk),
                networks=(self._title.partition(" ")[0],) if profile is Profile.NET else (),
                listens=not self._inner and is_handed_code(rule, self._operands, self._scripts),
            )
        if self._sub is not None:
            own = own.beside(self._sub)
        elif not self._inner:
            found = if_found(rule, self._words, self._plain_files)
            own = own._replace(unseen=if_unseen(rule), found=found)
        return total([own, *self._inner]) if self._inner else own

    def _kind(self) -> tuple[str, ...] | None:
        if self._is_broad or self._inner or self._goes_elsewhere():
            return None
        if self._rule.subs:
            return None if self._sub is None else self._sub.kind
        return tuple(self._title.split(" "))

    def _says_all(self) -> bool:
        hands_on = self._inner or self._module is not None or self._rule.runs is not None
        return not hands_on and not self._goes_elsewhere()

    def _goes_elsewhere(self) -> bool:
        return self._leads_elsewhere or any(map(ADDRESS.match, self._files))

    def _profile(self, *, changes: bool) -> Profile:
        """Only what is low is at home where nothing can be written and no program be started."""
        least = Profile.WRITE if changes else Profile.READ
        own = self._rule.profile
        return least if own is None or self._sub is not None else widest((least, own))
