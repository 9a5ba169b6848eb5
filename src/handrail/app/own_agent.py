"""Handrail's own agent, over the services of a server."""

from handrail.agent.limits import Limits
from handrail.agent.loop import Means
from handrail.agent.runs import AgentRuns
from handrail.app.affairs import Affairs
from handrail.app.config import Config
from handrail.core.configuration import INSTRUCTIONS, MAX_TOKENS
from handrail.server.services import Services


def hire_agent(services: Services, affairs: Affairs) -> AgentRuns:
    """The agent that these settings describe; they are looked at anew for every run."""
    config = affairs.config
    means = Means(
        store=services.store,
        clock=services.clock,
        executor=services.executor,
        whispers=services.whispers,
        skills=services.skills,
        budget=affairs.budget,
        find_provider=affairs.models.find,
        limits=lambda: _limits_in(config),
        instructions=lambda: config.text(INSTRUCTIONS) or "",
        is_owner=affairs.is_owner,
    )
    return AgentRuns(means, services.bus, services.stopper)


def _limits_in(config: Config) -> Limits:
    found = config.run_limits()
    return Limits(
        turns=found.max_turns,
        calls=found.max_calls,
        seconds=found.max_seconds,
        compact_at_tokens=found.compact_at_tokens,
        tokens=config.number(MAX_TOKENS),
    )
