"""Programs of other people as agents, and our agents as programs for others: JSON lines, GTP 2 and UCI.

docs/engines.md is the specification.  `external` is the agent, `process` one running program, `guard` what ends it
with all that it has started; `protocol` is the interface of `jsonlines`, `gtp` and `uci`; `serving` is the other side.
"""
