"""The person's own editor, for a text that is changed in a terminal."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from handrail.core.errors import BadInput, SetupError


def edit_text(text: str, *, suffix: str = ".txt") -> str:
    """Open a text in `$VISUAL` or `$EDITOR`; returns it as it was saved.

    A line end that the editor adds at the end of the text is taken off again.

    Raises:
        SetupError: No editor is set, or it cannot be started.
        BadInput: It ended with an error, or left what is no text.
    """
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    if not words:
        raise SetupError("no editor is set: set $EDITOR, or give the text as an option")
    # Only this user may read the folder: the text can hold secrets.
    with tempfile.TemporaryDirectory(prefix="handrail-edit-") as folder:
        file = Path(folder, f"text{suffix}")
        file.write_bytes(text.encode(errors="surrogatepass"))
        try:
            ended = subprocess.run([*words, str(file)], check=False)
            edited = file.read_bytes().decode()
        except OSError as error:
            raise SetupError(f"{words[0]} cannot be started: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise BadInput(
                "the editor saved text that is not UTF-8; nothing was changed"
            ) from error
    if ended.returncode != 0:
        raise BadInput(f"{words[0]} ended with {ended.returncode}; nothing was changed")
    return edited if text.endswith("\n") else edited.removesuffix("\n")
