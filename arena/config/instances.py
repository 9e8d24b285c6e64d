"""The games of a configuration: one for two players, or the instances for one player."""

import re
from collections import Counter

MAX_INSTANCES = 10_000


def game_specs(values: dict) -> list[str]:
    """The specs of a configuration's game, or of its instances: `seed=1..20` in one of them stands for twenty."""
    return [each for spec in values.get("instances") or [values["game"]] for each in spelled_out(spec)]


def spelled_out(spec: str) -> list[str]:
    """`samegame(seed=1..3)` -> samegame(seed=1), (seed=2), (seed=3); a spec without a range is itself."""
    if not (found := re.search(r"\b(\d{1,6})\.\.(\d{1,6})\b", spec)):
        return [spec]
    low, high = int(found[1]), int(found[2])
    return [
        each
        for number in range(low, min(high, low + MAX_INSTANCES) + 1)
        for each in spelled_out(f"{spec[: found.start()]}{number}{spec[found.end() :]}")
    ]


def make_instances(specs, make, complain) -> list:
    """The games of a list of specs; `make(i, spec)` makes one, or says what is wrong and returns None, and
    `complain(i, value, text)` says what else is wrong, with i None where it is the list."""
    if not specs:
        complain(None, specs, "is empty; a tournament needs one at least")
    made = []
    for i, spec in enumerate(specs):
        each_spec = spelled_out(spec)
        if not each_spec:
            complain(i, spec, "has a range that ends before it begins; 1..20 is from 1 to 20")
        for each in each_spec[: MAX_INSTANCES + 1 - len(made)]:
            made.append(make(i, each))
            if made[-1] is not None and made[-1].players != 1:
                complain(i, each, "is a game for two players; instances are for one, and the key game is for two")
    if len(made) > MAX_INSTANCES:
        complain(None, specs, f"there are more than {MAX_INSTANCES} of them")
    (name, times), *_ = Counter(str(game) for game in made if game is not None).most_common(1) or [("", 0)]
    if times > 1:
        complain(None, specs, f"{name} is there twice")
    return made
