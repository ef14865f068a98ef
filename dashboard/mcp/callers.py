"""The user for whom a tool call acts, and what the caller's token allows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mcp.server.mcpserver import Context

from dashboard.api.auth import Caller
from research.services import api_tokens
from research.services.api_tokens import Scope

FindCaller = Callable[[Context], Awaitable[Caller]]


def require_scope(caller: Caller, scope: Scope) -> None:
    """Raise `PermissionDenied` if the caller has a token without the scope."""
    if caller.token is not None:
        api_tokens.require_scope(caller.token, scope)
