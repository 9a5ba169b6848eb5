"""Bodies about signing in with a browser."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from handrail.wire.payloads import Body, Success


class SignInRequest(Body):
    """A link, exchanged for a cookie and a key."""

    link: str = Field(min_length=1, max_length=200, description="The part of the link after `#`.")


class LinkRequest(Body):
    """Whom the link signs in: you, unless it names an approver."""

    approver: str | None = Field(
        default=None, max_length=200, description="The name of an approver of this project."
    )


class LinkResponse(BaseModel):
    success: Success = True
    link: str = Field(description="Good once; put it behind the address and a `#`.")
    expires_at: datetime = Field(description="Until when.")


class LinkStateResponse(BaseModel):
    """Whether a link was used; all three are null while it was not."""

    success: Success = True
    used_at: datetime | None = Field(description="When a browser signed in with it.")
    used_by: str | None = Field(description="That browser, as it describes itself.")
    token_id: str | None = Field(description="The token that browser has got.")


class ProjectView(BaseModel):
    project_id: str = Field(description="The id of the project, `prj_…`.")
    name: str = Field(description="What it is called.")
    waiting: int = Field(description="How many questions of it wait for an answer.")


class SignedInResponse(BaseModel):
    """Who is signed in here."""

    success: Success = True
    user_id: str = Field(description="The person: a user, `usr_…`, or an approver, `apv_…`.")
    name: str = Field(description="What they are called.")
    role: Literal["user", "approver"] = Field(
        description="An approver answers the questions of one project, and sees nothing else."
    )
    projects: list[ProjectView] = Field(description="Their projects, oldest first.")
    version: str = Field(description="The version of the server.")
    now: datetime = Field(description="What time it is for the server.")


class WelcomeResponse(SignedInResponse):
    """Who has signed in, and what their page shows from now on."""

    project_id: str = Field(description="The project that the link was made for.")
    page_key: str = Field(
        description="Beside the cookie, to be sent as `X-Handrail-Console` with every request."
    )


class WhereaboutsResponse(BaseModel):
    """Where a question is to be found."""

    success: Success = True
    project_id: str = Field(description="The project it belongs to.")


class SignedOutResponse(BaseModel):
    success: Success = True
