"""Photos and documents in the sandbox's Telegram."""

from __future__ import annotations

from tests.pictures import as_image, png, qr_png, qr_texts
from tests.sandbox.telegram_sandbox import EMMA, running


async def test_a_qr_code_survives_being_sent_as_a_photo_in_every_larger_size() -> None:
    content = "LIGHTNING:LNBCRT" + "0123456789ABCDEF" * 16
    async with running() as server:
        await server.says(EMMA, "/start")
        sent = await server.bot.send_photo(EMMA, qr_png(content))
        copies = [(await server.people.get(f"/sandbox/files/{size.file_id}")).content for size in sent.photo]
    read = [qr_texts(copy) for copy in copies if as_image(copy).width >= 320]
    assert read == [[content]] * len(read)
    assert len(read) >= 2


async def test_photos_become_jpegs_and_documents_stay_as_they_are() -> None:
    picture = png(1600, 400, mode="RGBA")
    async with running() as server:
        await server.says(EMMA, "/start")
        photo = (await server.bot.send_photo(EMMA, picture)).photo
        document = (await server.bot.send_document(EMMA, picture, filename="qr.png")).document
        assert document is not None
        largest = as_image((await server.people.get(f"/sandbox/files/{photo[-1].file_id}")).content)
        kept = (await server.people.get(f"/sandbox/files/{document.file_id}")).content
        again = await server.bot.send_photo(EMMA, photo[0].file_id)
    assert [(size.width, size.height) for size in photo] == [(90, 23), (320, 80), (800, 200), (1280, 320)]
    assert (largest.format, largest.size) == ("JPEG", (1280, 320))
    assert (kept, document.mime_type) == (picture, "image/png")
    assert again.photo == photo


async def test_a_person_sends_formatted_text_and_a_photo_with_words_under_it() -> None:
    async with running() as server:
        await server.says(EMMA, "/start")
        photo = (await server.bot.send_photo(EMMA, png(90, 90))).photo[-1].file_id
        await server.posts(f"/sandbox/chats/{EMMA}/send", {"from": EMMA, "html": "<b>a</b> &amp; b"})
        await server.posts(f"/sandbox/chats/{EMMA}/send", {"from": EMMA, "html": "<i>c</i>", "photo": photo})
        await server.posts(f"/sandbox/chats/{EMMA}/send", {"from": EMMA, "photo": photo})
        heard = [update.message for update in await server.bot.get_updates(timeout=0)][-3:]
    assert [message.text_html for message in heard[:1] if message] == ["<b>a</b> &amp; b"]
    assert [message.caption_html for message in heard[1:2] if message] == ["<i>c</i>"]
    assert [message.photo[-1].file_id for message in heard[1:] if message] == [photo, photo]
