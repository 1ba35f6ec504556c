"""What all features declare that they do with the data of a user."""

from typing import Final

from bot.app import declared_features
from bot.users.user_data import UserData

USER_DATA: Final[tuple[UserData, ...]] = tuple(
    feature.user_data for feature in declared_features() if feature.user_data is not None
)
