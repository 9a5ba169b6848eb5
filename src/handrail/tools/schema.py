"""Parameters by JSON Schema, for tools whose author has no model of them."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
from jsonschema_rs import ValidationError, ValidationErrorKind

from handrail.core.errors import BadInput, SetupError
from handrail.core.tool import JsonObject

_WHOLE = "parameters"


class ParamsSchema:
    """A schema of one object. It is closed, unless it says itself that it is open."""

    def __init__(self, schema: JsonObject, tool_name: str):
        """Read the schema of a tool.

        Raises:
            SetupError: It is no schema, not one of an object, or leads elsewhere.
        """
        what = f"the input_schema of {tool_name!r}"
        if schema.get("type") != "object":
            raise SetupError(f'{what} does not describe an object; it needs "type": "object"')
        try:
            # A copy: what was registered stays what it was.
            self.closed: dict[str, Any] = json.loads(
                json.dumps({"properties": {}, "additionalProperties": False, **schema})
            )
            # Values are not repeated in messages, and no reference is fetched from anywhere.
            self._validator = jsonschema_rs.validator_for(
                self.closed, mask="this value", offline=True
            )
        except ValidationError as error:
            raise SetupError(f"{what} is not a JSON Schema: {next(_in_words(error))}") from error
        except (TypeError, ValueError, RecursionError) as error:
            raise SetupError(f"{what} is not JSON: {error}") from error

    def read(self, params: JsonObject) -> dict[str, Any]:
        """The parameters with the defaults of those that were left out.

        Raises:
            BadInput: They do not fit; the message names each field that is wrong.
        """
        values = {**self._defaults(), **params}
        try:
            errors = list(self._validator.iter_errors(values))
        except ValueError as error:
            raise BadInput(f"{_WHOLE}: there is something in them that is not JSON") from error
        if errors:
            raise BadInput("; ".join(line for error in errors for line in _in_words(error)))
        return values

    def _defaults(self) -> dict[str, Any]:
        fields = self.closed["properties"].items()
        return {
            name: json.loads(json.dumps(field["default"]))
            for name, field in fields
            if isinstance(field, dict) and "default" in field
        }


def _in_words(error: ValidationError) -> Iterator[str]:
    """As our own tools say it: the field, and what is wrong with it."""
    match error.kind:
        case ValidationErrorKind.Required(name):
            yield f"{_field(error, name)}: field required"
        case ValidationErrorKind.AdditionalProperties(names):
            for name in names:
                yield f"{_field(error, name)}: extra inputs are not permitted"
        case _:
            yield f"{_field(error)}: {error.message}"


def _field(error: ValidationError, *inner: str) -> str:
    return ".".join(map(str, (*error.instance_path, *inner))) or _WHOLE
