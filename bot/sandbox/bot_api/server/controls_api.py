"""Controls of the sandbox: faults, limits, the log of the bot's calls, and a reset."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.sandbox.bot_api.people.bulk_users import add_many_users
from bot.sandbox.bot_api.people.people_api import guarded, read_body
from bot.sandbox.bot_api.server.errors import PersonError
from bot.sandbox.bot_api.settings import TOTAL_LIMITS, Limits

if TYPE_CHECKING:
    from starlette.requests import Request

    from bot.sandbox.bot_api.box import Sandbox


class ControlsApi:
    """Requests that only the sandbox has."""

    def __init__(self, box: Sandbox) -> None:
        self._box = box

    def routes(self) -> list[Route]:
        """Return the routes of the controls."""
        return [
            Route("/sandbox/faults", guarded(self._faults), methods=["GET", "POST", "DELETE"]),
            Route("/sandbox/deliveries", guarded(self._deliveries), methods=["GET", "POST", "DELETE"]),
            Route("/sandbox/limits", guarded(self._limits), methods=["GET", "POST"]),
            Route("/sandbox/calls", guarded(self._calls)),
            Route("/sandbox/clear", guarded(self._clear), methods=["POST"]),
            Route("/sandbox/crowd", guarded(self._crowd), methods=["POST"]),
        ]

    async def _faults(self, request: Request) -> Response:
        if request.method == "DELETE":
            self._box.faults.clear()
        if request.method == "POST":
            return JSONResponse(asdict(self._box.faults.add(await read_body(request))), 201)
        return JSONResponse({"faults": self._box.faults.listed()})

    async def _deliveries(self, request: Request) -> Response:
        if request.method == "DELETE":
            self._box.deliveries.clear()
        if request.method == "POST":
            self._box.deliveries.change(await read_body(request))
        return JSONResponse(self._box.deliveries.as_json())

    async def _limits(self, request: Request) -> Response:
        if request.method == "POST":
            body = await read_body(request)
            known = {field.name for field in fields(Limits)}
            if unknown := body.keys() - known:
                raise PersonError(400, f"unknown: {', '.join(sorted(unknown))}")
            if body.get("total_applies_to", TOTAL_LIMITS[0]) not in TOTAL_LIMITS:
                raise PersonError(400, f"total_applies_to: {' or '.join(TOTAL_LIMITS)}")
            self._box.limiter.change(**body)
        return JSONResponse(asdict(self._box.limiter.limits))

    async def _crowd(self, request: Request) -> Response:
        return JSONResponse({"ids": add_many_users(self._box, await read_body(request))}, 201)

    async def _calls(self, request: Request) -> Response:
        """Return the bot's calls after number `after`, of one `method` if given."""
        after, method = int(request.query_params.get("after") or 0), request.query_params.get("method")
        found = [call for call in self._box.calls if call["seq"] > after and method in {None, call["method"]}]
        return JSONResponse({"calls": found})

    async def _clear(self, _: Request) -> Response:
        """Delete messages, updates, files and presses. Restore the users and groups of the first start."""
        self._box.updates.clear()
        self._box.faults.clear()
        self._box.deliveries.clear()
        self._box.calls.clear()
        self._box.logged_out = False
        self._box.world.forget_all()
        self._box.events.forget()
        self._box.webhook_changed.set()
        return JSONResponse({"seq": self._box.events.seq})
