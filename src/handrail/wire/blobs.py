"""Bodies about blobs."""

from pydantic import BaseModel, Field

from handrail.wire.payloads import Success


class BlobResponse(BaseModel):
    """A blob that lies ready: `{"blob": …, "size": …}` stands for it in parameters and results."""

    success: Success = True
    blob: str = Field(description="The SHA-256 of the content.")
    size: int = Field(description="Its bytes.")
