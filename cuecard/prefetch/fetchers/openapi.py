"""Finds one operation in an OpenAPI 3 description and builds its request; nothing more of the format is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from cuecard.errors import FetchRefused
from cuecard.prefetch.fetchers.http import path_part
from sops.models import ToolFetch

METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Operation:
    """Method, address and where each argument goes."""

    method: str
    base: str
    path: str
    parameters: Mapping[str, str]
    """Name to path, query, header or body."""
    required: frozenset[str]

    def request(self, dep: str, args: Mapping[str, str]) -> dict[str, Any]:
        """Keyword arguments for the HTTP client. Arguments that the operation doesn't know are left out."""
        lacking = [name for name in sorted(self.required) if not args.get(name)]
        if lacking:
            raise FetchRefused(dep, f"{dep}: {self.path} needs {', '.join(lacking)}, which is not known")
        path = self.path
        placed: dict[str, dict[str, str]] = {"query": {}, "header": {}, "body": {}}
        for name, place in self.parameters.items():
            value = args.get(name)
            if not value:
                continue
            if place == "path":
                path = path.replace("{" + name + "}", path_part(dep, str(value)))
            elif place in placed:
                placed[place][name] = str(value)
        return {
            "method": self.method,
            "url": self.base.rstrip("/") + path,
            "params": placed["query"] or None,
            "headers": placed["header"],
            "json": placed["body"] or None,
        }


def find_operation(dep: str, described: Mapping[str, Any], source: ToolFetch) -> Operation:
    """The operation whose id is `source.tool`."""
    known = []
    for path, item in described["paths"].items():
        for method in METHODS:
            operation = item.get(method)
            if operation is None:
                continue
            known.append(operation.get("operationId", ""))
            if operation.get("operationId") == source.tool:
                return _operation(described, source.target, path, method, item, operation)
    raise FetchRefused(dep, f"{dep}: no operation {source.tool!r} in {source.target}; there are {', '.join(known)}")


def _operation(
    described: Mapping[str, Any],
    target: str,
    path: str,
    method: str,
    item: Mapping[str, Any],
    operation: Mapping[str, Any],
) -> Operation:
    servers = operation.get("servers") or item.get("servers") or described.get("servers") or [{"url": "/"}]
    parameters: dict[str, str] = {}
    required = set()
    for declared in [*item.get("parameters", ()), *operation.get("parameters", ())]:
        parameter = _resolved(described, declared)
        parameters[parameter["name"]] = parameter["in"]
        if parameter.get("required"):
            required.add(parameter["name"])
    body = _resolved(described, operation.get("requestBody") or {})
    schema = _resolved(described, body.get("content", {}).get("application/json", {}).get("schema", {}))
    for name in schema.get("properties", {}):
        parameters.setdefault(name, "body")
    required.update(schema.get("required", ()))
    base = urljoin(target, servers[0]["url"]) if target.startswith("http") else servers[0]["url"]
    return Operation(method.upper(), base, path, parameters, frozenset(required))


def _resolved(described: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow a local reference (`#/components/...`), as deep as it goes."""
    for _ in range(10):
        reference = node.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return node
        found: Any = described
        for part in reference[2:].split("/"):
            found = found[part.replace("~1", "/").replace("~0", "~")]
        node = found
    return node
