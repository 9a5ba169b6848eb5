"""What fits a field, in words: JSON Schema for people."""

from collections.abc import Callable, Mapping
from typing import Any

from scripts.reference.page import code, table

Schema = Mapping[str, Any]
# How to name another body: a link, where there is one.
Naming = Callable[[str], str]

_KINDS = {
    "string": "text", "integer": "whole number", "number": "number", "boolean": "true or false",
    "object": "object", "null": "null",
}  # fmt: skip


def request_table(schema: Schema, schemas: Schema, naming: Naming = code) -> str:
    """The fields of what is sent: what fits them, and which may be left out."""
    needed = schema.get("required", [])
    return table(
        ("field", "what fits", "default", "meaning"),
        (
            (
                code(name),
                fitting(field, schemas, naming),
                default_of(field, needed=name in needed),
                field.get("description", ""),
            )
            for name, field in schema.get("properties", {}).items()
        ),
    )


def answer_table(fields: Schema, schemas: Schema, naming: Naming = code) -> str:
    """The fields of what is told: all of them are there."""
    return table(
        ("field", "what it is", "meaning"),
        (
            (code(name), fitting(field, schemas, naming), field.get("description", ""))
            for name, field in fields.items()
        ),
    )


def default_of(field: Schema, *, needed: bool) -> str:
    if needed:
        return "needed"
    default = field.get("default")
    return "" if default is None else code(_literal(default))


def fitting(field: Schema, schemas: Schema, naming: Naming = code) -> str:
    """What a field takes, in a few words."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        named = schemas[name]
        return fitting(named, schemas, naming) if "enum" in named else naming(name)
    if "anyOf" in field:
        choices = [fitting(choice, schemas, naming) for choice in field["anyOf"]]
        return ("; or " if any("," in one for one in choices) else " or ").join(choices)
    if "allOf" in field:
        return fitting(field["allOf"][0], schemas, naming)
    if "const" in field:
        return code(_literal(field["const"]))
    if "enum" in field:
        return ", ".join(code(_literal(word)) for word in field["enum"])
    if field.get("type") == "array":
        return f"list of {fitting(field.get('items', {}), schemas, naming)}{_limits(field)}"
    if field.get("format") == "date-time":
        return "moment"
    return f"{_KINDS.get(field.get('type', ''), 'anything')}{_limits(field)}"


def _limits(field: Schema) -> str:
    least = field.get("minimum", field.get("minItems"))
    most = field.get("maximum", field.get("maxItems"))
    words = ""
    if least is not None and most is not None:
        words = f", {_number(least)} to {_number(most)}"
    elif most is not None:
        words = f", at most {_number(most)}"
    elif least is not None:
        words = f", at least {_number(least)}"
    if "exclusiveMaximum" in field:
        words += f", below {_number(field['exclusiveMaximum'])}"
    if "maxLength" in field:
        words += f", up to {_number(field['maxLength'])} characters"
    if "pattern" in field:
        words += f", like {code(field['pattern'])}"
    return words


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _literal(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case "":
            return '""'
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return str(value)
