"""Processes that play games: started, watched and judged by a supervisor."""
