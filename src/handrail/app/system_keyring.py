"""The keyring of the system, where there is one that works. Loaded when it is needed."""

from handrail.core.errors import SetupError

_SERVICE = "handrail"
# The package's own measure: what is below keeps secrets in the open, or not at all.
_LEAST_PRIORITY = 1


def keep_in_keyring(name: str, secret: str) -> bool:
    """Whether the system's keyring has taken it, and gives it back."""
    import keyring

    try:
        if float(keyring.get_keyring().priority) < _LEAST_PRIORITY:
            return False
        keyring.set_password(_SERVICE, name, secret)
        return keyring.get_password(_SERVICE, name) == secret
    except Exception:
        return False


def read_from_keyring(name: str) -> str | None:
    """What the system's keyring has under this name.

    Raises:
        SetupError: It cannot be opened.
    """
    import keyring

    try:
        return keyring.get_password(_SERVICE, name)
    except Exception as error:
        raise SetupError(f"the system's keyring cannot be opened: {error}") from error


def remove_from_keyring(name: str) -> None:
    """Remove it; what is not there is fine.

    Raises:
        SetupError: It is there and cannot be removed.
    """
    import keyring

    if read_from_keyring(name) is None:
        return
    try:
        keyring.delete_password(_SERVICE, name)
    except Exception as error:
        raise SetupError(f"the system's keyring did not delete it: {error}") from error
