"""Makes JSON schemas plain: what is read by them asks for the kind of each value alone."""

from typing import Any

_NOISE = ("title", "additionalProperties")


def compact(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object without titles, references and null alternatives."""
    definitions = schema.get("$defs", {})
    return _compact(
        {key: value for key, value in schema.items() if key not in ("$defs", "description")}, definitions
    )


def _compact(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    schema = _resolved(schema, definitions)
    short = {key: value for key, value in schema.items() if key not in _NOISE}
    if "properties" in short:
        short["properties"] = {
            name: _compact(value, definitions) for name, value in short["properties"].items()
        }
    if "items" in short:
        short["items"] = _compact(short["items"], definitions)
    return short


def _resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema that a reference names, or that is the only alternative to null; else the schema itself."""
    if "$ref" in schema:
        target = dict(definitions[schema["$ref"].rpartition("/")[2]])
        target.pop("description", None)
        return {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    alternatives = [alternative for alternative in schema.get("anyOf", ()) if alternative != {"type": "null"}]
    if len(alternatives) == 1:
        outer = {key: value for key, value in schema.items() if key != "anyOf"}
        return {**_resolved(alternatives[0], definitions), **outer}
    return schema
