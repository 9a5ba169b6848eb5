"""Bodies about blobs."""

from pydantic import BaseModel


class BlobResponse(BaseModel):
    """A blob that lies ready: `{"blob": …, "size": …}` stands for it in parameters and results."""

    success: bool = True
    blob: str
    size: int
