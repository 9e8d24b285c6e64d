"""Specs of agents with more parameters."""

from arena import agents


def made(spec, **more):
    """The agent of a spec with more parameters."""
    name, _, inside = spec.rstrip(")").partition("(")
    words = [inside, *(f"{key}={value!r}" for key, value in more.items())]
    return agents.make(f"{name}({', '.join(filter(None, words))})")
