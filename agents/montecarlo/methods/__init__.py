"""Methods of `uct`, a file each: see agents/montecarlo/method.py."""
