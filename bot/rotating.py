"""`python -m bot rotate-keys`: seals the database anew with the first of ENCRYPTION_KEYS, and says how far it is."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from bot.config import Settings
from bot.house import store_of
from bot.store import SqlStore

DONE, LEFT = 0, 1
Say = Callable[[str], object]


class BotIsRunning(Exception):
    """Another process acts as the bot just now."""


async def run(settings: Settings, say: Say) -> int:
    """Do it; the exit code.

    Raises:
        UnfitKeys: a key is missing that something is sealed with.
        StoreFailure: the database can't be reached, or failed.
    """
    store = store_of(settings)
    try:
        await store.check()
        await store.check_keys()
        async with await _beside_the_bot(store):
            return await _rotate(store, say)
    except BotIsRunning:
        say("The running bot doesn't know the first key yet. Restart it with these ENCRYPTION_KEYS, then repeat.")
        return LEFT
    finally:
        await store.close()


async def _beside_the_bot(store: SqlStore) -> AbstractAsyncContextManager[object]:
    """Nothing where the bot knows the first key; else its place, so that none can begin that doesn't know it."""
    if await store.keys_are_adopted():
        return nullcontext()

    def busy() -> None:
        raise BotIsRunning

    return store.lead(busy)


async def _rotate(store: SqlStore, say: Say) -> int:
    await store.adopt_keys()
    before = await store.sealed()
    say(
        f"{sum(each.waiting for each in before.values()):,} of {sum(each.sealed for each in before.values()):,} rows "
        "wait for the first key."
    )
    async for step in store.rotate():
        say(f"  {step.table}: {step.sealed:,} of {before[step.table].waiting:,}")
    left = await store.finish_rotation()
    if left:
        say(f"Rows that don't open, because they were changed or moved: {left:,}. Older keys are still needed.")
        return LEFT
    say("Everything is sealed with the first key. Older keys may be taken out of ENCRYPTION_KEYS.")
    return DONE
