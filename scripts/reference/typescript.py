"""web/src/api/types.ts: what server and console say to each other, so that it is written once."""

from collections.abc import Sequence
from typing import Any, cast

import msgspec
from pydantic import BaseModel

from handrail.core.grant import GRANT_SECONDS, GRANT_USES, LASTING_CHOICES, LASTING_SECONDS
from handrail.core.project import Autonomy
from handrail.wire.events import EVENTS
from scripts.reference.http import openapi_document

_HEAD = "// Made by `make reference` from the code of the server; change that, not this file.\n"
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}

_LIMITS = {
    "GRANT_USES": ("How many calls a grant may let pass, in words.", GRANT_USES),
    "GRANT_SECONDS": ("For how long a grant may hold, in words.", GRANT_SECONDS),
    "LASTING_CHOICES": ("For how long a lasting answer may hold, in words.", LASTING_CHOICES),
}
_LASTING = f"""/** For how long it holds unless a person says otherwise. */
export const LASTING_SECONDS = {LASTING_SECONDS};
"""

Schema = dict[str, Any]


def types_module() -> str:
    schemas: dict[str, Schema] = dict(openapi_document()["components"]["schemas"])
    for kind in EVENTS.values():
        schemas |= _schemas_of(kind)
    interfaces = [_declare(name, schema) for name, schema in sorted(schemas.items())]
    events = "".join(f'  "{name}": {kind.__name__};\n' for name, kind in EVENTS.items())
    told = (
        f"/** Every event of the stream, by its name. */\nexport interface Events {{\n{events}}}\n"
    )
    limits = [_limits(name, *constant) for name, constant in _LIMITS.items()]
    return "\n".join([_HEAD, *interfaces, told, *limits, _LASTING, _autonomies()])


def _autonomies() -> str:
    told = "".join(
        f"  {msgspec.json.encode((one.value, one.meaning)).decode()},\n" for one in Autonomy
    )
    kind = "readonly (readonly [Autonomy, string])[]"
    meaning = "What agents may do without asking, in words; the least comes first."
    return f"/** {meaning} */\nexport const AUTONOMIES: {kind} = [\n{told}];\n"


def _limits(name: str, meaning: str, choices: Sequence[tuple[int | None, str]]) -> str:
    told = "".join(f"  {msgspec.json.encode(choice).decode()},\n" for choice in choices)
    kind = "readonly (readonly [number | null, string])[]"
    return f"/** {meaning} */\nexport const {name}: {kind} = [\n{told}];\n"


def _schemas_of(kind: type) -> dict[str, Schema]:
    if issubclass(kind, BaseModel):
        schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
        return {**schema.pop("$defs", {}), kind.__name__: schema}
    return dict(msgspec.json.schema(kind)["$defs"])


def _declare(name: str, schema: Schema) -> str:
    comment = _comment(schema.get("description"), "")
    if "properties" not in schema:
        return f"{comment}export type {name} = {_type(schema)};\n"
    needed = set(schema.get("required", []))
    lines = [
        f"{_comment(field.get('description'), '  ')}"
        f"  {key}{'' if key in needed or _is_answer(schema) else '?'}: {_type(field)};\n"
        for key, field in schema["properties"].items()
    ]
    return f"{comment}export interface {name} {{\n{''.join(lines)}}}\n"


def _is_answer(schema: Schema) -> bool:
    """What we send has every field, also those that have a default; what we take may not."""
    return schema.get("additionalProperties") is not False


def _comment(text: str | None, indent: str) -> str:
    if not text:
        return ""
    words = " ".join(text.split()).replace("*/", "* /")
    return f"{indent}/** {words} */\n"


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "const" in schema:
        return msgspec.json.encode(schema["const"]).decode()
    if "enum" in schema:
        return " | ".join(msgspec.json.encode(one).decode() for one in schema["enum"])
    if several := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        return " | ".join(dict.fromkeys(_type(one) for one in several))
    match schema.get("type"):
        case "array":
            inner = _type(schema.get("items", {}))
            return f"({inner})[]" if " | " in inner else f"{inner}[]"
        case "object":
            return f"Record<string, {_type(_values(schema))}>"
        case "null":
            return "null"
        case str(kind):
            return _PLAIN[kind]
        case _:
            return "unknown"


def _values(schema: Schema) -> Schema:
    values = schema.get("additionalProperties")
    return cast(Schema, values) if isinstance(values, dict) else {}
