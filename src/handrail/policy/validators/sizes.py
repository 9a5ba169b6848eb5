"""How much of anything is too much."""

from dataclasses import dataclass

from handrail.core.risk import Finding, forbidden

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class SizeLimiter:
    max_file_bytes: int = 100 * MEGABYTE
    max_params_bytes: int = MEGABYTE
    # A file as text: in other encodings a character may take fewer bytes than in UTF-8.
    max_blob_bytes: int = 200 * MEGABYTE

    def check_file(self, size_bytes: int) -> list[Finding]:
        if size_bytes <= self.max_file_bytes:
            return []
        reason = f"{size_bytes:,} bytes is more than the {self.max_file_bytes:,} allowed"
        return [forbidden("size.file", reason)]

    def check_params(self, size_bytes: int) -> list[Finding]:
        if size_bytes <= self.max_params_bytes:
            return []
        reason = f"the parameters are {size_bytes:,} bytes, more than {self.max_params_bytes:,}"
        return [forbidden("size.params", reason)]
