"""How support agents work on tickets in the staff's chat."""
