"""Other people's programs as agents, and our agents as programs for others: JSON lines, GTP 2 and UCI.

docs/engines.md is the specification.  `external` is the agent, `process` a running program, `guard` ends it with all
its descendants; `protocol` is the interface of `jsonlines`, `gtp` and `uci`; `serving` is the other side.
"""
