"""What a user can mend: the base class of errors whose message says what is wrong and what would be right."""


class UserError(Exception):
    """The message is for the person who typed the command: `arena` prints it alone, without a traceback."""
