"""The rules of docs/openapi.json for the fields of a request, for service.py."""

import json
import os
import re
from pathlib import Path

LOOPBACK = os.environ.get("LOOPBACK") == "1"  # Whether plain http to this machine is allowed.
MAX = 64 * 1024
SCHEMAS = json.loads((Path(__file__).parents[2] / "docs/openapi.json").read_text())["components"]["schemas"]


def rule(value: object, schema: dict) -> str | None:
    """The rule of openapi.json that a single value breaks."""
    schema = {**SCHEMAS.get(schema.get("$ref", "").split("/")[-1], {}), **schema}
    kind = {"string": str, "boolean": bool}[schema["type"]]
    if not isinstance(value, kind) or len(str(value)) > schema.get("maxLength", MAX):
        return f"must be a {schema['type']}, not too long"
    if "pattern" in schema and not re.fullmatch(schema["pattern"], str(value), re.ASCII):
        return f"must match {schema['pattern']}"
    plain = "HttpUrl" in schema.get("$ref", "") and not LOOPBACK and str(value).startswith("http:")
    return "must be https" if plain else None


def errors(body: object) -> list[dict]:
    """Every error in the fields of a request."""
    if not isinstance(body, dict):
        return [{"loc": ["body"], "msg": "must be an object", "type": "value_error"}]
    # This service takes no flow in the request, so it requires the URL of one.
    fields = {name: one for name, one in SCHEMAS["CallParams"]["properties"].items() if name != "flow"}
    required = [*SCHEMAS["CallParams"]["required"], "flow_url"]
    found = [("missing", name, "Field required") for name in required if name not in body]
    found += [("extra_forbidden", name, "is unknown") for name in body if name not in fields]
    found += [("value_error", n, msg) for n in body if n in fields and (msg := rule(body[n], fields[n]))]
    return [{"loc": ["body", name], "msg": msg, "type": kind} for kind, name, msg in found]
