"""Stories of a new user: the description in their language, and the commands that always work."""

import re

import pytest

from bot.infra.i18n import LOCALES
from bot.payments.tokens import LIGHTNING_WALLETS
from tests.e2e.bot_database import wait_for_row, wait_until_undeliverable
from tests.e2e.chat_user import ChatUser, text_of
from tests.e2e.faults import wait_until_idle
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import ENDED, complete_order, tap_to_invoice, tap_to_review
from tests.e2e.system import System
from tests.texts import TRANSLATIONS, label, like, says, text
from tests.waiting import found

pytestmark = pytest.mark.asyncio(loop_scope="session")

GROUP = -1_002_000_000_001


async def test_start_says_what_this_is_in_the_language_of_the_app(shared_system: System) -> None:
    begins = {
        "en": "en",
        "id": "id",
        "id-ID": "id",
        "de": "en",
        None: "en",
    }
    for language, locale in begins.items():
        user = await new_user(shared_system, language)
        await user.says("/start")
        shown = await user.sees(like("home.start.text", locale))
        assert len(shown["text"].split("\n\n")[0].splitlines()) == 3
        assert (await user.buttons())[0] == label("users.button.send", locale)
    await user.speaks("en")
    await user.says("hello there")
    await user.sees(like("home.chat.greeting"))


async def test_a_hello_in_any_form_is_answered_with_price_time_and_trouble_before_the_first_question(
    shared_system: System,
) -> None:
    for language, hellos in (("en", ("hi", "/start", "/start of_another_bot")), ("id", ("halo", "/start"))):
        t = TRANSLATIONS.get(language)
        for hello in hellos:
            user = await new_user(shared_system, language)
            await user.says(hello)
            shown = text_of(await user.sees(like("home.start.text", language)))
            fee, amount, minimum = t.rupiah(5_000), t.rupiah(500_000), t.rupiah(20_000)
            price = re.compile("[0-9.,]+ sats")
            assert says(shown, "home.welcome.cost", language, minimum=minimum, amount=amount, sats=price, fee=fee)
            assert says(shown, "home.welcome.trouble_support", language)
            assert "anti-phishing" not in shown
        await user.taps(label("home.button.read_more", language))
        await user.sees(like("support.help.text", language))
        await user.taps(label("users.button.send", language))
        await user.sees(like("checkout.destination.ask", language))


async def test_the_language_is_changed_in_one_tap_and_the_question_is_asked_again_in_it(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await emma.says("/start")
    await emma.taps(label("users.language.other", name=LOCALES["id"].name))
    await emma.sees(like("home.start.text", "id"))
    await emma.taps(label("users.button.send", "id"))
    await emma.sees(like("checkout.destination.ask", "id"))
    await emma.says("bca")
    await emma.sees(like("checkout.number.ask_bank", "id"))
    await emma.says("1234567890")
    await emma.sees(like("checkout.holder.ask", "id"))
    await emma.says("/language")
    await emma.sees(like("users.language.ask", "id"))
    assert (await emma.taps("English"))["text"] == label("users.language.changed")
    asked = await emma.sees(like("checkout.holder.ask"))
    assert asked["text"].startswith("BCA · 1234567890\n")
    await emma.taps(label("checkout.holder.skip"))
    await emma.sees(like("checkout.amount.ask"))
    await emma.speaks("id")
    await emma.says("500rb")
    await emma.sees(like("checkout.review.title"))  # what a person has chosen outlasts what their app says
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("orders.status_message.waiting"))


async def test_commands_in_the_middle_of_a_draft_lead_back_into_it(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await emma.says("/send")
    await emma.sees(like("checkout.destination.ask"))
    await emma.says("mandri")
    await emma.sees(like("checkout.number.ask_bank", name="Mandiri · BANK MANDIRI"))
    answers = {
        "/start": like("home.start.text"),
        "/help": like("support.help.text"),
        "/rate": like("rates.btc", rate="Rp"),
        "/status": like("orders.status.none"),
        "/RATE": like("rates.example", amount="Rp1,000,000", sats=re.compile("[0-9,]+ sats")),
        "/status@kirim_sandbox_bot": like("orders.status.none"),
        "/nonsense": like("checkout.chat.unknown_command"),
    }
    for command, answer in answers.items():
        await emma.says(command)
        await emma.sees(answer)
        assert (await emma.buttons())[0] == label("checkout.draft.continue"), command
        assert label("users.button.send") not in await emma.buttons()
    await emma.taps(label("checkout.draft.continue"))
    await emma.sees(like("checkout.number.ask_bank"))
    await wait_until_idle(shared_system)
    with_buttons = [message for message in await emma.messages() if message.get("reply_markup")]
    assert len(with_buttons) == 1  # the questions before have none any more


async def test_send_in_the_middle_of_a_draft_asks_whether_to_continue(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await emma.says("/start")
    welcome = await emma.sees(like("home.start.text"))
    _, new = await emma.button(label("users.button.send"))
    await emma.says("/SEND@Kirim_Sandbox_Bot")
    await emma.sees(like("checkout.destination.ask"))
    await emma.says("bca")
    await emma.sees(like("checkout.number.ask_bank"))
    await emma.says("/send")
    await emma.sees(like("checkout.draft.unfinished", line=re.compile(".*→ BCA")))
    await emma.taps(label("checkout.draft.continue"))
    await emma.sees(like("checkout.number.ask_bank"))
    await emma.presses(welcome, new, force=True)  # the big button of old asks as well, and nothing is lost
    await emma.sees(like("checkout.draft.unfinished"))
    await emma.taps(label("checkout.draft.start_over"))
    await emma.sees(like("checkout.destination.ask"))
    await emma.says("/cancel")
    await emma.sees(like("checkout.draft.cancelled"))
    await emma.says("/cancel")
    await emma.sees(like("checkout.draft.nothing_to_cancel"))


async def test_the_command_list_speaks_both_languages(shared_system: System) -> None:
    expected = [text(f"home.command.{name}", locale) for name in ("send", "rate", "language") for locale in LOCALES]

    async def list_commands() -> str:
        commands = (await shared_system.telegram.get("/sandbox/state")).json()["commands"]
        return str({scope: each for scope, each in commands.items() if not scope.startswith("chat:")})

    # The bot sets them in the background after its start.
    listed = await found(list_commands, lambda shown: all(words in shown for words in expected), what="the commands")
    assert set(re.findall(r"'command': '(\w+)'", listed)) == {
        "send",
        "recipients",
        "rate",
        "status",
        "orders",
        "verify",
        "request",
        "requests",
        "cancel",
        "settings",
        "phrase",
        "privacy",
        "language",
        "help",
        "start",
    }


async def test_an_empty_chat_says_what_the_bot_does_in_both_languages(shared_system: System) -> None:
    async def described() -> dict[str, str]:
        state: dict[str, dict[str, str]] = (await shared_system.telegram.get("/sandbox/state")).json()
        return state["descriptions"]

    descriptions = await found(described, lambda each: len(each) == 6, what="the descriptions")
    read = {"": "en", "en": "en"} | dict.fromkeys(("id", "ms", "jv", "su"), "id")
    assert descriptions == {code: text("home.about.description", locale) for code, locale in read.items()}


async def test_help_explains_in_its_place_and_lightning_beside_the_first_review(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await emma.says("/help")
    await emma.sees(like("support.help.text"))
    pages = {
        "cost": like("support.help.cost"),
        "time": text("support.help.time"),
        "lightning": text("checkout.help.lightning", wallets=", ".join(LIGHTNING_WALLETS)),
    }
    for topic, begins in {**pages, "trouble": text("support.help.trouble_support")}.items():
        await emma.taps(label(f"checkout.button.help_{topic}"))
        await emma.sees(begins if topic == "cost" else re.escape(begins))
        await emma.taps(label("users.button.back"))
        await emma.sees(like("support.help.text"))
    before = len(await emma.messages())
    await tap_to_review(emma)
    review = await emma.sees(like("checkout.review.title"))
    await emma.taps(label("checkout.button.help_lightning"))
    await emma.sees(re.escape(text("checkout.help.lightning", wallets=", ".join(LIGHTNING_WALLETS))))
    assert len(await emma.messages()) > before
    await emma.taps(label("checkout.review.confirm"), message=review)
    await emma.sees(like("orders.status_message.waiting"))
    await emma.says("/send 500k bca 1234567890 Budi")
    await emma.sees(like("checkout.review.title"))
    assert label("checkout.button.help_lightning") not in await emma.buttons()


async def test_a_user_learns_their_id_and_an_operator_that_of_a_group(shared_system: System) -> None:
    for user_id in (1001, 2001):
        user = ChatUser(shared_system.telegram, user_id)
        await user.says("/id")
        assert str(user_id) in text_of(await user.sees(like("users.id.own")))
    oscar, rina = (ChatUser(shared_system.telegram, user_id, GROUP) for user_id in (2001, 3001))
    await oscar.says("/id@kirim_sandbox_bot")
    assert str(GROUP) in text_of(await oscar.sees(like("users.id.group")))
    await rina.says("/id")
    await rina.sees(like("users.group_chat.text", "id"))


async def test_in_a_group_the_bot_offers_the_private_chat_and_is_quiet_otherwise(shared_system: System) -> None:
    oscar = ChatUser(shared_system.telegram, 2001, GROUP)
    await oscar.says("/send@kirim_sandbox_bot 500rb bca 1234567890")
    offer = await oscar.sees(like("users.group_chat.text"))
    button = offer["reply_markup"]["inline_keyboard"][0][0]
    assert button["url"].startswith("https://t.me/kirim_sandbox_bot")
    rina = ChatUser(shared_system.telegram, 3001, GROUP)
    await rina.says("/status")
    await rina.sees(like("users.group_chat.text", "id"))
    unheard = [await rina.says("/status@another_bot"), await rina.says("lunch?")]
    await oscar.says("/rate")
    await oscar.sees(like("users.group_chat.text"))
    await wait_until_idle(shared_system)
    ids = {message["message_id"] for message in unheard}
    answers = [message.get("reply_to_message", {}).get("message_id") for message in await rina.messages()]
    assert ids.isdisjoint(answers)


async def test_who_comes_back_after_blocking_hears_what_happened(shared_system: System) -> None:
    emma = await new_user(shared_system)
    _, order = await tap_to_invoice(shared_system, emma)
    await emma.blocks()
    await shared_system.service.pays(order)
    await complete_order(shared_system, order)
    sari = await new_user(shared_system, "id")
    await sari.says("/start")  # others are served meanwhile
    await sari.sees(like("home.start.text", "id"))
    await wait_for_row(shared_system, order, state="COMPLETED")
    await wait_until_undeliverable(shared_system, emma)  # A user who unblocks sooner gets the usual notification.
    await emma.blocks(blocked=False)
    card = await emma.sees(like("orders.chat.meanwhile"))
    assert re.search(ENDED, card["text"])
    await emma.sees_times(0, like("orders.step.created"))  # the steps, which nothing could reach, are one line
    await emma.says("/status")
    await emma.sees(like("orders.status.none"))
