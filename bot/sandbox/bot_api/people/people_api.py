"""The person API under `/sandbox`, used by the chat page and by tests that play a user."""

from __future__ import annotations

import base64
import json
import time
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from bot.sandbox.bot_api.people import actions, groups, inline
from bot.sandbox.bot_api.people.media import take_document, take_photo
from bot.sandbox.bot_api.server.errors import BadRequest, PersonError
from bot.sandbox.bot_api.server.forms import Upload

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.datastructures import QueryParams
    from starlette.requests import Request

    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import Chat, JsonObject

    Answer = Callable[[Request], Awaitable[Response]]

KEEP_ALIVE_SECONDS = 15.0
MAX_LISTED = 500


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
            Route("/sandbox/chats", guarded(self._add_group), methods=["POST"]),
            Route(f"{chat}/messages", guarded(self._messages)),
            Route(f"{chat}/send", guarded(self._send), methods=["POST"]),
            Route(f"{chat}/edit", guarded(self._edit), methods=["POST"]),
            Route(f"{chat}/delete", guarded(self._delete), methods=["POST"]),
            Route(f"{chat}/press", guarded(self._press), methods=["POST"]),
            Route(f"{chat}/inline", guarded(self._inline), methods=["POST"]),
            Route(f"{chat}/choose", guarded(self._choose), methods=["POST"]),
            Route(f"{chat}/migrate", guarded(self._migrate), methods=["POST"]),
            Route(f"{chat}/bot", guarded(self._set_bot_status), methods=["POST"]),
            Route(f"{chat}/members", guarded(self._set_person_status), methods=["POST"]),
            Route(f"{chat}/reactions", guarded(self._allow_reactions), methods=["POST"]),
            Route("/sandbox/people", guarded(self._add_person), methods=["POST"]),
            Route("/sandbox/people/{person_id}", guarded(self._update_person), methods=["PATCH"]),
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
            "pinned": chat.pinned,
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
        message = actions.send(self._box, _number(request, "chat_id"), body)
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

    async def _edit(self, request: Request) -> Response:
        message = actions.edit(self._box, _number(request, "chat_id"), await read_body(request))
        return JSONResponse({"message": message.as_client_json()})

    async def _delete(self, request: Request) -> Response:
        actions.delete(self._box, _number(request, "chat_id"), await read_body(request))
        return JSONResponse({})

    async def _press(self, request: Request) -> Response:
        body = await read_body(request)
        return JSONResponse(await actions.press(self._box, _number(request, "chat_id"), body))

    async def _inline(self, request: Request) -> Response:
        body = await read_body(request)
        return JSONResponse(await inline.query(self._box, _number(request, "chat_id"), body))

    async def _choose(self, request: Request) -> Response:
        message = inline.choose(self._box, _number(request, "chat_id"), await read_body(request))
        return JSONResponse({"message": message.as_client_json()})

    async def _add_person(self, request: Request) -> Response:
        return JSONResponse(vars(groups.add_person(self._box, await read_body(request))), 201)

    async def _update_person(self, request: Request) -> Response:
        person_id = _number(request, "person_id")
        return JSONResponse(vars(actions.update_person(self._box, person_id, await read_body(request))))

    async def _add_group(self, request: Request) -> Response:
        return JSONResponse(self._described(groups.add_group(self._box, await read_body(request))), 201)

    async def _set_bot_status(self, request: Request) -> Response:
        chat = groups.set_bot_status(self._box, _number(request, "chat_id"), await read_body(request))
        return JSONResponse(self._described(chat))

    async def _set_person_status(self, request: Request) -> Response:
        chat = groups.set_person_status(self._box, _number(request, "chat_id"), await read_body(request))
        return JSONResponse(self._described(chat))

    async def _allow_reactions(self, request: Request) -> Response:
        chat = groups.allow_reactions(self._box, _number(request, "chat_id"), await read_body(request))
        return JSONResponse(self._described(chat))

    async def _migrate(self, request: Request) -> Response:
        return JSONResponse(self._described(groups.migrate(self._box, _number(request, "chat_id"))))

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
