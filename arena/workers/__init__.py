"""Processes that play games, and the supervisor that starts, watches and judges them."""
