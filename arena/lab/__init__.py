"""The laboratory in the browser: pages to play and to analyse, for `arena lab`.

`pages` serves them, `access` says who may see them, `frame` is what all have around them.  A page is a file:
`play_page`, `analyse_page`.  They share `line` (a game in progress), `clicks` (its board), `forms` (games and agents),
`searches` (processes that think, whose own code is `searcher`) and `shown` (what a search has found).
"""
