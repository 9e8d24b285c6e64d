"""Methods of `uct`, one in each file: see agents/montecarlo/method.py."""
