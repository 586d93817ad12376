"""Errors as OpenAI's clients expect them: a status and `{"error": {...}}`."""

from typing import Any

import orjson
from starlette.responses import Response


class ApiError(Exception):
    """Ends a request with this status; `message` says what to do about it."""

    def __init__(self, status: int, message: str, *, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param

    def response(self) -> Response:
        return error_response(self.status, str(self), self.code, self.param)


_KINDS = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 409: "conflict_error"}


def error_response(status: int, message: str, code: str | None = None, param: str | None = None) -> Response:
    kind = _KINDS.get(status, "invalid_request_error" if status < 500 else "server_error")
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return json_response(body, status, headers)


def json_response(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """JSON by orjson, which writes numpy's numbers too."""
    content = orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)
    return Response(content, status, headers, media_type="application/json")
