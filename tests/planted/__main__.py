"""Plants faults and prints which tests find them."""

import sys
from concurrent.futures import ThreadPoolExecutor

from tests.planted import FAULTS, Fault, NotTried, found_by


def told(fault: Fault) -> tuple[bool, str]:
    """Whether a fault is found, and a line on it."""
    where = f"{fault.file}: {fault.name}"
    try:
        test = found_by(fault)
    except NotTried as error:
        return False, f"UNKNOWN {where}: {error}"
    return test is not None, f"found   {where}  [{test}]" if test else f"LIVES   {where}"


def main(words: list[str]) -> int:
    """Plant the faults that have one of the words; returns the number of those that are not found."""
    chosen = [one for one in FAULTS if not words or any(word in f"{one.name} {one.file} {one.tests}" for word in words)]
    missed = 0
    with ThreadPoolExecutor(2) as pool:
        for found, line in pool.map(told, chosen):
            missed += not found
            print(line, flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} found")
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
