"""Which toolchains there are, and where each puts itself: data, and nothing is looked for here."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from handrail.executors.toolchains import preferences

Preferred = Callable[[str], Iterable[str]]


class Kind(NamedTuple):
    """`places` are where it is, the first that exists; `$NAME/` stands for a variable's value.

    `folders` say where below it the programs are. `parts` are what boxes show of it, where that is
    not everything. `preferred` tells which versions the person has made the default.
    """

    name: str
    places: tuple[str, ...]
    folders: tuple[str, ...]
    parts: tuple[str, ...] = ()
    preferred: Preferred = preferences.nothing


# Not its `etc` and `var`, where services keep settings and data.
_HOMEBREW = (
    *("bin", "sbin", "lib", "libexec", "opt", "Cellar", "share", "include"),
    "etc/ca-certificates",
)

# In the order in which they are offered: who is asked to allow them all searches in that order.
KINDS = (
    Kind(
        "pyenv", ("$PYENV_ROOT/versions", "~/.pyenv/versions"), ("*/bin",),
        preferred=preferences.of_pyenv,
    ),
    Kind(
        "uv", ("$UV_PYTHON_INSTALL_DIR/", "$XDG_DATA_HOME/uv/python", "~/.local/share/uv/python"),
        ("*/bin",),
    ),
    Kind(
        "nvm", ("$NVM_DIR/versions/node", "~/.nvm/versions/node"), ("*/bin",),
        preferred=preferences.of_nvm,
    ),
    Kind(
        "fnm",
        ("$FNM_DIR/node-versions", "~/.local/share/fnm/node-versions", "~/.fnm/node-versions"),
        ("*/installation/bin",), preferred=preferences.of_fnm,
    ),
    Kind(
        "volta", ("$VOLTA_HOME/tools/image", "~/.volta/tools/image"), ("*/*/bin",),
        preferred=preferences.of_volta,
    ),
    # What is in ~/.cargo/bin under these names only asks rustup, which needs more than its files.
    Kind(
        "rustup", ("$RUSTUP_HOME/toolchains", "~/.rustup/toolchains"), ("*/bin",),
        preferred=preferences.of_rustup,
    ),
    Kind("cargo", ("$CARGO_HOME/bin", "~/.cargo/bin"), (".",)),
    Kind(
        "asdf", ("$ASDF_DATA_DIR/installs", "~/.asdf/installs"), ("*/*/bin", "*/*/go/bin"),
        preferred=preferences.of_asdf,
    ),
    Kind(
        "mise", ("$MISE_DATA_DIR/installs", "~/.local/share/mise/installs"), ("*/*/bin",),
        preferred=preferences.of_mise,
    ),
    Kind(
        "conda",
        (
            "~/miniconda3", "~/miniforge3", "~/mambaforge", "~/anaconda3", "~/micromamba",
            "/opt/conda", "/opt/miniconda3",
        ),
        ("bin",),
    ),
    Kind("go", ("/usr/local/go",), ("bin",)),
    Kind("go-sdk", ("~/sdk", "~/go/sdk"), ("*/bin",)),
    Kind(
        "sdkman", ("$SDKMAN_DIR/candidates", "~/.sdkman/candidates"), ("*/*/bin",),
        preferred=preferences.of_sdkman,
    ),
    Kind(
        "homebrew", ("$HOMEBREW_PREFIX/", "/home/linuxbrew/.linuxbrew", "~/.linuxbrew"),
        ("bin", "sbin"), _HOMEBREW,
    ),
    Kind("local", ("~/.local/bin",), (".",)),
)  # fmt: skip
