"""Surveys of the tools that live on the server: before a call is ruled on, and before it is done.

The words of such a call cannot tell what it replaces there, however harmless they are. So a tool
that has a survey of its own is asked for it also where the words alone would pass.
"""

import asyncio
from collections.abc import Awaitable, Callable

from handrail.core.errors import ToolError
from handrail.core.execution import ToolExecution
from handrail.core.hands import Hands
from handrail.core.project import Place
from handrail.core.survey import Survey
from handrail.core.tool import Site
from handrail.plane.assessment import Assessor
from handrail.tools.base import AnyTool, ToolParams
from handrail.tools.blame import blaming
from handrail.tools.outcome import as_survey

_MOST_SECONDS = 10.0

# What a tool may touch for the person whose call this is, and where it is made.
HandsFor = Callable[[ToolExecution, Place], Awaitable[Hands]]


class Looker:
    def __init__(self, assessor: Assessor, hands_for: HandsFor):
        self._assessor = assessor
        self.hands_for = hands_for

    async def look(
        self, call: ToolExecution, tool: AnyTool, params: ToolParams, place: Place
    ) -> Survey | None:
        """What the tool sees on the server; None for tools of a client, or without a survey.

        Raises:
            ToolError: It cannot be done at all, or looking took too long.
            BrokenTool: The tool broke while it looked.
        """
        if tool.site is not Site.SERVER or not tool.surveys:
            return None
        scene = self._assessor.scene_of(place)
        with blaming(tool.name, "while it looked"):
            try:
                async with asyncio.timeout(_MOST_SECONDS):
                    hands = await self.hands_for(call, place)
                    given = await tool.survey(params, scene, hands)
            except TimeoutError:
                raise ToolError(f"{tool.name} took too long to check the current state") from None
            return as_survey(tool.name, given)
