"""The API under `/sandbox`, for the chat page and tests: what users do and see, faults, limits, the log of calls."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import asdict, fields
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from bot.sandbox.bot_api import people
from bot.sandbox.bot_api.calls import BadRequest, PersonError, Upload
from bot.sandbox.bot_api.media import take_document, take_photo
from bot.sandbox.bot_api.model import TOTAL_LIMITS, Chat, Limits, Person, StoredMessage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.datastructures import QueryParams
    from starlette.requests import Request

    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import JsonObject

    Answer = Callable[[Request], Awaitable[Response]]

KEEP_ALIVE_SECONDS = 15.0
MAX_LISTED = 500

ACTS = {
    "edit": people.edit,
    "delete": people.delete,
    "press": people.press,
    "inline": people.query_inline,
    "choose": people.choose_inline,
    "bot": people.set_member,
    "members": people.set_member,
    "migrate": people.migrate,
    "reactions": people.allow_reactions,
}
"""What is done in a chat, by the end of its address."""


class PeopleApi:
    """Requests of users, and the stream of what they see."""

    def __init__(self, box: Sandbox) -> None:
        self._box = box

    def routes(self) -> list[Route]:
        """Return the routes of the person API."""
        chat = "/sandbox/chats/{chat_id}"
        return [
            Route("/sandbox/state", guarded(self._state)),
            Route("/sandbox/events", guarded(self._events)),
            Route("/sandbox/payment-requests", guarded(self._payment_requests)),
            Route(f"{chat}/messages", guarded(self._messages)),
            Route(f"{chat}/send", guarded(self._send), methods=["POST"]),
            *(Route(f"{chat}/{name}", self._act(act), methods=["POST"]) for name, act in ACTS.items()),
            Route("/sandbox/chats", self._act(people.add_group, status=201), methods=["POST"]),
            Route("/sandbox/people", self._act(people.add_person, status=201), methods=["POST"]),
            Route("/sandbox/crowd", self._act(people.add_many_users, status=201), methods=["POST"]),
            Route("/sandbox/people/{person_id}", self._act(people.update_person, "person_id"), methods=["PATCH"]),
            Route("/sandbox/faults", guarded(self._faults), methods=["GET", "POST", "DELETE"]),
            Route("/sandbox/deliveries", guarded(self._deliveries), methods=["GET", "POST", "DELETE"]),
            Route("/sandbox/limits", guarded(self._limits), methods=["GET", "POST"]),
            Route("/sandbox/calls", guarded(self._calls)),
            Route("/sandbox/files/{file_id}", guarded(self._file)),
        ]

    async def _state(self, _: Request) -> Response:
        world = self._box.world
        return JSONResponse(
            {
                "sandbox": world.state.id,
                "bot": world.bot_user(),
                "people": [vars(person) for person in world.people.values()],
                "chats": [self._described(chat) for chat in world.chats.values()],
                "commands": world.state.commands,
                "descriptions": world.state.descriptions,
                "seq": self._box.events.seq,
            }
        )

    def _described(self, chat: Chat) -> JsonObject:
        members = chat.members or [chat.id, self._box.world.settings.bot_id]
        topics = [vars(topic) for topic in chat.topics.values()]
        person = self._box.world.people.get(chat.id)
        return {
            "id": chat.id,
            "type": chat.type,
            "title": person.first_name if person else chat.title,
            "is_forum": chat.is_forum,
            "members": members,
            "topics": topics,
            "migrated_to": chat.migrated_to or None,
        }

    async def _payment_requests(self, _: Request) -> Response:
        """Return who was asked for which payment, for which order of the bot."""
        found = self._box.world.payment_requests.values()
        return JSONResponse({"payment_requests": [vars(request) for request in found]})

    async def _events(self, request: Request) -> Response:
        given = request.headers.get("last-event-id") or request.query_params.get("after")
        after = int(given) if given else self._box.events.seq
        return StreamingResponse(
            self._stream(after),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    async def _stream(self, after: int) -> AsyncIterator[str]:
        yield ": open\n\n"
        while True:
            found = await self._box.events.wait(after, KEEP_ALIVE_SECONDS)
            for event in found:
                yield f"id: {event['seq']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"
                after = event["seq"]
            if not found:
                yield ": still here\n\n"

    async def _messages(self, request: Request) -> Response:
        """Return messages after a message id, oldest first. Without `after`, return the newest `limit`.

        `changed_after` is the number (`seq`) of an event: answer when a later event has happened in the chat, or after
        `changed_within` seconds. `shown_after` is the number of an event: `shown` has each version of a message posted
        or changed since, including versions that were replaced later, and `deleted` the ids of those deleted since.
        With `changes_only`, `messages` is left out, unless the sandbox has dropped some of the events in between.
        """
        chat_id = _number(request, "chat_id")
        if chat_id not in self._box.world.chats:
            raise PersonError(404, "no such chat")
        query = request.query_params
        if "changed_after" in query:
            within = min(float(query.get("changed_within") or KEEP_ALIVE_SECONDS), KEEP_ALIVE_SECONDS)
            await self._new_messages(chat_id, int(query["changed_after"]), within)
        answer: JsonObject = {"seq": self._box.events.seq}
        is_complete = False
        if "shown_after" in query:
            since = self._box.events.since(int(query["shown_after"]))
            in_chat = [event for event in since if event.get("chat_id") == chat_id]
            answer["shown"] = [event["message"] for event in in_chat if "message" in event]
            answer["deleted"] = [event["message_id"] for event in in_chat if event["type"] == "delete"]
            is_complete = all(event["type"] != "reset" for event in since)
        if not (is_complete and query.get("changes_only")):
            answer["messages"] = self._list_messages(chat_id, query)
        return JSONResponse(answer)

    def _list_messages(self, chat_id: int, query: QueryParams) -> list[JsonObject]:
        after, thread = int(query.get("after") or 0), query.get("thread_id")
        limit = min(int(query.get("limit") or 100), MAX_LISTED)
        found = [
            message
            for message_id, message in sorted(self._box.world.messages.get(chat_id, {}).items())
            if message_id > after and (thread is None or message.thread_id == int(thread))
        ]
        shown = found[:limit] if after else found[-limit:]
        return [message.as_client_json() for message in shown]

    async def _new_messages(self, chat_id: int, after: int, within: float) -> None:
        # Without `asyncio.timeout`: on Python 3.11, `wait_for` can swallow its cancellation when an event arrives.
        until = time.monotonic() + within
        while (remaining := until - time.monotonic()) > 0:
            found = await self._box.events.wait(after, remaining)
            if any(event.get("chat_id") == chat_id or event["type"] == "reset" for event in found):
                return
            after = found[-1]["seq"] if found else after

    async def _send(self, request: Request) -> Response:
        """Send a message. Files can also come in base64: `picture`, or `file`: {`name`, `mime`, `content`}."""
        body = await read_body(request)
        await self._take_files(body)
        message = people.send(self._box, _number(request, "chat_id"), body)
        return JSONResponse({"message": message.as_client_json()})

    async def _take_files(self, body: JsonObject) -> None:
        file = body.get("file") or {}
        try:
            if body.get("picture"):
                body["photo"] = await take_photo(self._box.world, _decoded(body["picture"]))
            if file:
                upload = Upload(str(file.get("name", "")), str(file.get("mime", "")), _decoded(file.get("content", "")))
                body["document"] = await take_document(self._box.world, upload)
        except BadRequest as error:
            raise PersonError(400, str(error)) from error

    def _act(self, act: Callable[..., Any], place: str = "chat_id", status: int = 200) -> Answer:
        """Return the answer of a function of `people`, which gets the id in the path, if any, and the body."""

        async def answer(request: Request) -> Response:
            ids = (_number(request, place),) if place in request.path_params else ()
            done = act(self._box, *ids, await read_body(request))
            return JSONResponse(self._show(await done if isawaitable(done) else done), status)

        return guarded(answer)

    def _show(self, done: object) -> object:
        if isinstance(done, StoredMessage):
            return {"message": done.as_client_json()}
        if isinstance(done, Chat):
            return self._described(done)
        return vars(done) if isinstance(done, Person) else done

    async def _faults(self, request: Request) -> Response:
        faults = self._box.faults
        if request.method == "POST":
            return JSONResponse(asdict(faults.add(await read_body(request))), 201)
        if request.method == "DELETE":
            faults.on.clear()
        return JSONResponse({"faults": [asdict(fault) for fault in faults.on]})

    async def _deliveries(self, request: Request) -> Response:
        if request.method == "POST":
            self._box.deliveries.change(await read_body(request))
        if request.method == "DELETE":
            self._box.deliveries.clear()
        return JSONResponse(self._box.deliveries.on)

    async def _limits(self, request: Request) -> Response:
        if request.method == "POST":
            body = await read_body(request)
            if unknown := body.keys() - {field.name for field in fields(Limits)}:
                raise PersonError(400, f"unknown: {', '.join(sorted(unknown))}")
            if body.get("total_applies_to", TOTAL_LIMITS[0]) not in TOTAL_LIMITS:
                raise PersonError(400, f"total_applies_to: {' or '.join(TOTAL_LIMITS)}")
            self._box.limiter.change(**body)
        return JSONResponse(asdict(self._box.limiter.limits))

    async def _calls(self, request: Request) -> Response:
        """Return the bot's calls after number `after`, of one `method` if given."""
        after, method = int(request.query_params.get("after") or 0), request.query_params.get("method")
        found = [call for call in self._box.calls if call["seq"] > after and method in {None, call["method"]}]
        return JSONResponse({"calls": found})

    async def _file(self, request: Request) -> Response:
        file = self._box.world.files.get(request.path_params["file_id"])
        content = None if file is None else self._box.world.journal.blob(file.file_id)
        if file is None or content is None:
            raise PersonError(404, "no such file")
        return Response(content, media_type=file.mime, headers={"Cache-Control": "max-age=31536000, immutable"})


def _number(request: Request, name: str) -> int:
    """Return a number of the path. Groups have negative ids, which Starlette's converter rejects."""
    return int(request.path_params[name])


def _decoded(content: object) -> bytes:
    return base64.b64decode(str(content), validate=True)


def guarded(answer: Answer) -> Answer:
    """Turn errors into error answers."""

    async def checked(request: Request) -> Response:
        try:
            return await answer(request)
        except PersonError as error:
            return JSONResponse({"error": error.error}, error.status)
        except (ValueError, TypeError, KeyError) as error:
            return JSONResponse({"error": f"can't read the request: {error}"}, 400)

    return checked


async def read_body(request: Request) -> JsonObject:
    """Return the body of a request, a JSON object.

    Raises:
        PersonError: 400, it isn't a JSON object.
    """
    body: Any = await request.json()
    if not isinstance(body, dict):
        raise PersonError(400, "expected a JSON object")
    return body
