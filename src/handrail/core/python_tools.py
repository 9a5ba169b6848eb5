"""Modules of Python that are tools, and nothing that the folder they are started in could bring."""

PYTHON_TOOLS = frozenset(
    [
        *("black", "build", "compileall", "ensurepip", "isort", "json.tool", "pip"),
        *("pip3", "pipx", "py_compile", "ruff", "tarfile", "twine", "uv", "venv", "virtualenv"),
        *("wheel", "zipfile"),
    ]
)
