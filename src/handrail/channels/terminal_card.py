"""The approval card as lines for a terminal. Nothing in it can move the cursor or hide.

Lines that are longer than the terminal are folded here, behind a mark of their own: no text of
somebody else's ever begins a line, so that none can pass for a part of the card.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rich.cells import chop_cells
from rich.text import Text

from handrail.channels.marking import mark_evidence
from handrail.core.card import Card, Offer
from handrail.core.grant import Scope
from handrail.core.names import name_or_id
from handrail.core.visible import cut, visible

# The key that gives each answer.
KEYS = {Scope.ONCE: "a", Scope.CLASS: "c", Scope.PROJECT: "p", Scope.SESSION: "s"}
LASTING_NO = "n"
SHOWN_LINES = 40
SHOWN_CHARS = 500

_RISK_STYLE = {"MEDIUM": "yellow", "HIGH": "red", "CRITICAL": "bold white on red"}


@dataclass(frozen=True, slots=True)
class CardText:
    """A card put into lines of at most `width` cells; whole, or cut to what is seen at a look."""

    card: Card
    width: int
    most_lines: int = SHOWN_LINES
    whole: bool = False
    lasting_no: str = ""

    @property
    def is_cut(self) -> bool:
        """Whether there is more than is seen at a look."""
        at_a_look = replace(self, whole=False)
        whole = replace(self, whole=True)
        return [line.plain for line in at_a_look.lines()] != [line.plain for line in whole.lines()]

    def lines(self) -> Iterator[Text]:
        yield Text("─" * self.width, style="dim")
        yield from self.about()
        yield from self.evidence()
        yield from self.changes()

    def about(self) -> Iterator[Text]:
        """What would happen, how risky that is and why, and who asks."""
        card = self.card
        yield from self._headline()
        for reason in card.reasons:
            yield from self._folded("  · ", reason)
        who = name_or_id(card.agent_name, card.agent_id)
        where = f" on {card.client_name}" if card.client_name else ""
        yield from self._folded("  ", f"asked by {who} in session {card.session_id}{where}", "dim")
        if card.reasoning:
            yield from self._folded("  ", f"the agent claims: {card.reasoning}", "italic")
        for note in card.notes:
            yield from self._folded("  ! ", note, "yellow")

    def ways_to_approve(self) -> Iterator[Text]:
        """How far a yes may reach, for who gives it elsewhere."""
        for offer in self.card.offers:
            yield from self._folded("  ", f"--scope {offer.scope}: {tell_offer(offer)}", "dim")

    def menu(self, *, unseen: bool) -> Text:
        """Which key does what; one that shows the rest, where something is `unseen`."""
        menu = Text()
        for offer in self.card.offers:
            key = f"  {KEYS[offer.scope]} "
            for line in self._folded(key, f"approve {tell_offer(offer)}"):
                line.stylize("bold green", 0, len(key))
                menu.append_text(line).append("\n")
        menu.append("  r ", style="bold red").append("refuse, with a reason\n")
        if self.lasting_no:
            menu.append(f"  {LASTING_NO} ", style="bold red").append(f"refuse {self.lasting_no}\n")
        if unseen:
            menu.append("  v ", style="bold").append("view all of it\n")
        return menu.append("  l ", style="bold").append("leave it open for another screen")

    def told(self, words: str) -> Iterator[Text]:
        """Something that is said while a person decides."""
        return self._folded("  ", words, "yellow")

    def prompt(self, seconds_left: int) -> str:
        """The line below the menu: that somebody is waited for, and how long."""
        left = clock(seconds_left)
        prompt = f"decide (expires in {left}, then refused) "
        return prompt if len(prompt) < self.width else f"decide ({left}) "

    def _headline(self) -> Iterator[Text]:
        style = _RISK_STYLE.get(self.card.risk_level, "yellow")
        risk = f" {self._shown(self.card.risk_level)} "
        first, *rest = self._folded(f"{risk} ", self.card.description, "bold")
        first.stylize(style, 0, len(risk))
        yield first
        yield from rest

    def evidence(self) -> Iterator[Text]:
        """What it would change or run: a diff, a plan, or the parameters."""
        if not self.card.evidence:
            for name, value in self.card.tool_params.items():
                yield from self._folded("  ", f"{name} = {value}")
            return
        yield from self._marked(self.card.evidence)

    def changes(self) -> Iterator[Text]:
        """What a person has changed in the call, from what the agent asked."""
        if self.card.revision:
            yield from self._folded("  ", f"changed by {self.card.revised_by}:", "dim")
            yield from self._marked(self.card.revision)

    def _marked(self, evidence: str) -> Iterator[Text]:
        # Only line feeds part lines; whatever else might is made visible.
        lines = evidence.removesuffix("\n").split("\n")
        texts = mark_evidence([self._shown(line) for line in lines])
        missing = 0 if self.whole else max(0, len(lines) - self.most_lines)
        tail = (self.most_lines + 2) // 4 if missing else 0
        head = len(lines) - missing - tail
        for text in texts[:head]:
            yield from self._folded_text("  ", text)
        if missing:
            # At the edge, where no line of the evidence can begin.
            yield Text(f"… {missing:,} line{'s' * (missing > 1)} not shown here", style="yellow")
        for text in texts[head + missing :]:
            yield from self._folded_text("  ", text)

    def _folded(self, prefix: str, text: str, style: str = "") -> Iterator[Text]:
        """Somebody else's text behind our prefix, and folded behind a mark of ours."""
        yield from self._folded_text(prefix, Text(self._shown(text), style))

    def _folded_text(self, prefix: str, text: Text) -> Iterator[Text]:
        hanging = f"{' ' * (len(prefix) - 2)}│ " if len(prefix) >= 2 else "│ "
        start = 0
        pieces = list(_pieces(text.plain, max(10, self.width - len(prefix))))
        for piece in pieces or [""]:
            end = start + len(piece)
            yield Text.assemble(hanging if start else prefix, text[start:end])
            start = end

    def _shown(self, text: str) -> str:
        """Every unseen character made visible, and the end cut off what is long."""
        shown = visible(text, keep="\t").expandtabs(4)
        return shown if self.whole else cut(shown, SHOWN_CHARS)


def _pieces(text: str, width: int) -> Iterator[str]:
    """Parts that fit, each up to the end of a word where it has one; nothing is left out."""
    start = 0
    while start < len(text):
        # Most characters take a cell; those that take none are not endless.
        following = text[start : start + 4 * width]
        piece = chop_cells(following, width)[0]
        is_last = start + len(piece) >= len(text)
        end = len(piece) if is_last else piece.rstrip(" ").rfind(" ") + 1 or len(piece)
        if not is_last and text[start + len(piece)] == " ":
            end = len(piece)
        yield piece[:end]
        start += end


def tell_offer(offer: Offer) -> str:
    return offer.words if offer.past is None else f"{offer.words}; {offer.past}"


def clock(seconds: int) -> str:
    """Minutes and seconds, as `9:42`."""
    return f"{seconds // 60}:{seconds % 60:02d}"
