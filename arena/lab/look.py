"""How the laboratory's pages look: one design, as style sheets.

Letters are 14 px or larger; what is clicked is 32 px high, 44 px on a phone, except moves within a line of text.
Distances are those of Quasar's scale: 4, 8, 16 and 24 px.  An action that a page is for is filled, others have an
outline, a way back or a step along a line is flat; what cannot be taken back asks.  Colours: blue is what can be done,
green what can be clicked on a board.  Searches are blue, orange and purple, first and second player blue and orange (of
Okabe and Ito's palette, which all can tell apart); an exact win is green, a draw blue, a loss red.  Light or dark is
the reader's choice, figures too.
"""

STYLE = """
.arena-lab-board svg { width: 100%; height: auto; max-height: 78vh; display: block; }
.arena-lab-board.turned svg { transform: rotate(180deg); }
.arena-lab-board.turned svg text { transform: rotate(180deg); transform-box: fill-box; transform-origin: center; }
.arena-lab-board .spot { cursor: pointer; }
.arena-lab-board .area { fill: transparent; }
.arena-lab-board .dot { fill: none; stroke: #1d7a3e; stroke-opacity: .7; stroke-width: 2.5; stroke-dasharray: 4 3; }
.arena-lab-board .spot:hover .area, .arena-lab-board .spot:focus .area { fill: #1d7a3e; fill-opacity: .3; }
.arena-lab-board .spot:focus { outline: none; }
.arena-lab-board .spot:focus-visible .area { stroke: #1d7a3e; stroke-width: 3; }
.body--dark .arena-lab-board .dot, .body--dark .arena-lab-board .picked { stroke: #8fe3ad; stroke-opacity: 1; }
.arena-lab-board .picked { fill: none; stroke: #1d7a3e; stroke-width: 3; }
.arena-lab-board .shade, .arena-lab-board .draw { fill: #3d8bd4; }
.arena-lab-board .win { fill: #2f9e57; }
.arena-lab-board .loss { fill: #cf4a3f; }
.arena-lab-board :is(.shade, .draw, .win, .loss) { fill-opacity: calc(.75 * var(--strength)); pointer-events: none; }
.search-a, .first { --search: #0072b2; } .search-b, .second { --search: #d55e00; } .search-c { --search: #8f4a9e; }
.arena-lab-board :is(.search-a, .search-b, .search-c) {
    fill: none; stroke: var(--search); stroke-width: 5; stroke-opacity: var(--strength); pointer-events: none;
}
.arena-lab-key { width: 16px; height: 16px; border-radius: 8px; border: 4px solid var(--search); flex: none; }
body { --q-primary: #1f5f99 !important; }
.q-btn, .nicegui-link { min-height: 32px; }
.nicegui-link { display: inline-flex; align-items: center; }
.q-btn, .q-table td, .q-table th, .q-tree { font-size: 14px; }
@media (max-width: 600px) { .q-btn { min-height: 44px; min-width: 44px; } }
body.body--dark { --q-primary: #8fc1f7 !important; --q-negative: #ff8a80 !important; }
.body--dark .q-btn.bg-primary { --q-primary: #2a66a8; }
.q-field__messages { font-size: 14px; }
.q-field--float .q-field__label { font-size: 18.6px; }
.nicegui-row > .nicegui-column { min-width: 0; }
.arena-lab-wrap th { white-space: normal; }
.arena-lab-wide { overflow-x: auto; }
.arena-lab-wide .q-table__middle { overflow: visible; }
a.nicegui-link { color: var(--q-primary); text-decoration: underline; }
#popup::after {
    content: "If arena lab has ended, start it again, and this page goes on. Else open the address that it prints.";
    display: block;
}

.arena-lab-left { flex: 1 1 320px; max-width: 576px; min-width: 0; }
.arena-lab-right { flex: 1 1 320px; min-width: 0; }
.arena-lab-panel { flex: 1 1 240px; min-width: 0; max-width: 420px; }
.arena-lab-beside { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 8px; align-items: stretch; }
.arena-lab-beside > .arena-lab-board { grid-column: 2; }
.arena-lab-bar { width: 16px; display: flex; }
.arena-lab-bar > div { width: 16px; background: #d55e00; position: relative; border-radius: 3px; overflow: hidden; }
.arena-lab-bar i { position: absolute; bottom: 0; width: 100%; background: #0072b2; transition: height .3s; }
.arena-lab-bar > div::after { content: ""; position: absolute; top: 50%; width: 100%; border-top: 1px solid white; }
.arena-lab-graph { width: 100%; max-width: 480px; height: auto; }
.arena-lab-graph line { stroke: #8a949e; stroke-width: .6; }
.arena-lab-graph line.here { stroke: currentColor; stroke-width: 1; }
.arena-lab-graph text { font-size: 11px; fill: currentColor; }
.arena-lab-graph polyline { fill: none; stroke-width: 1.5; }
.arena-lab-graph rect { fill: transparent; cursor: pointer; }
.arena-lab-graph rect:hover { fill: #8a949e; fill-opacity: .3; }
.arena-lab-graph polyline, .arena-lab-graph circle { stroke: var(--search); }
.arena-lab-graph circle { fill: var(--search); }
.arena-lab-line { position: relative; max-height: 40vh; overflow-y: auto; font-size: 14px; }
.arena-lab-line .row { display: grid; grid-template-columns: 3em 1fr 1fr; align-items: center; }
.arena-lab-line .number { opacity: .75; padding: 0 4px; }
.arena-lab-line .variation { padding-left: 3em; line-height: 1.9; }
.arena-lab-line button { min-height: 28px; padding: 2px 6px; border-radius: 4px; text-align: left; }
.arena-lab-line button:hover { background: #8a949e44; }
.arena-lab-line button[aria-current] { background: #1f5f99; color: white; }
.arena-lab-line abbr { color: #cf4a3f; font-weight: bold; text-decoration: none; }
.arena-lab-line button[aria-current] abbr { color: inherit; }
@media (max-width: 600px) { .arena-lab-line button { min-height: 44px; min-width: 44px; } }
.arena-lab-tree { overflow-x: auto; }
.arena-lab-tree svg { max-width: none; zoom: 1.2; }
.arena-lab-tree text { pointer-events: none; }
.arena-lab-tree [data-node] { cursor: pointer; }
.arena-lab-tree [data-node]:is(:hover, :focus-visible) { stroke-width: 3.5; outline: none; }
.arena-lab-tree svg [aria-current] { fill: #ffe08a; }
.body--dark .arena-lab-figure img { filter: invert(1) hue-rotate(180deg); }
"""
