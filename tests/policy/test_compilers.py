"""A compiler can be told to run or load other code in many spellings; each is refused."""

import shlex

import pytest

from handrail.core.risk import RiskLevel, worst
from handrail.policy.validators.commands import CommandValidator

COMMANDS = CommandValidator("/workspace")


def risk_of(line: str) -> RiskLevel:
    command, *args = shlex.split(line)
    return worst(COMMANDS.validate_command(command, args))


@pytest.mark.parametrize(
    "flag",
    [
        *("--for-linker=-plugin=./p.so", "--for-linker=@f", "--for-linker x", "--for-link=@f"),
        *("--for-assembler=@f", "--for-assembler @f", "--for-a=@f", "-Wp,-fplugin=./p.so"),
        *("-fmodules-ts '-fmodule-mapper=|./x'", "-fmodule-mapper=x", "-iplugindir=."),
        *("-wrapper ./x", "-fplugin=./p.so", "-specs=x", "--specs=x", "--spec=x", "-B.", "-B ."),
        *("--prefix=./x", "--pre=./x", "@f", "-Xlinker @f", "-Xassembler @f", "-Wl,-O1,@f"),
        *("-Wl,--plugin=./p.so", "-Xlinker --plu=./p.so", "-Xpreprocessor -fplugin=./p.so"),
    ],
)
@pytest.mark.parametrize("compiler", ["gcc", "g++-12"])
def test_what_has_a_compiler_run_other_code_is_refused(compiler: str, flag: str) -> None:
    assert risk_of(f"{compiler} {flag} a.cc") is RiskLevel.FORBIDDEN


def test_so_is_what_says_it_in_the_environment() -> None:
    assert risk_of("env 'CXX_MODULE_MAPPER=|./x' g++ a.cc") is RiskLevel.FORBIDDEN


@pytest.mark.parametrize(
    "words",
    ["-T x.ld a.c", "-fuse-ld=gold a.c", "--preprocess a.c", "-Wl,-rpath,lib a.c", "-Wall a.c"],
)
def test_other_flags_of_a_compiler_are_asked_about(words: str) -> None:
    assert risk_of(f"gcc {words}") is RiskLevel.HIGH
