"""The style of the HTML report, light and dark."""

STYLE = """
:root { color-scheme: light dark;
  --ground: #ffffff; --raised: #f4f5f7; --line: #dcdfe4; --ink: #1c2129; --faint: #5b6470;
  --blue: #2563c9; --orange: #c2570c; --omission: #9a6200; --wrong: #c0262d; --invention: #7a3fc0; --good: #17734a; }
@media (prefers-color-scheme: dark) { :root {
  --ground: #15181d; --raised: #1f242b; --line: #363d47; --ink: #e6e9ee; --faint: #a2abb8;
  --blue: #6ea8ff; --orange: #ff9d5c; --omission: #e6b04d; --wrong: #ff7b80; --invention: #c29bff; --good: #5fd39a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 24px 20px 64px; }
h1 { font-size: 26px; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 28px 0 8px; }
small { color: var(--faint); font-size: 12.5px; font-weight: normal; }
p { margin: 6px 0; }
code { font: 13px/1.45 ui-monospace, Consolas, monospace; overflow-wrap: anywhere; white-space: pre-wrap; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(158px, 1fr)); gap: 10px; margin: 18px 0; }
.card { background: var(--raised); border-radius: 8px; padding: 10px 12px; display: flex; flex-direction: column; }
.card b { font-size: 21px; } .card span { font-size: 13px; color: var(--faint); }
.strip { display: flex; height: 14px; border-radius: 4px; overflow: hidden; max-width: 760px; }
.strip .omission { background: var(--omission); } .strip .wrong { background: var(--wrong); }
.strip .invention { background: var(--invention); }
.tag { border: 1px solid currentColor; border-radius: 9px; padding: 0 7px; font-size: 12px; font-weight: normal;
  color: var(--faint); white-space: nowrap; }
.tag.omission { color: var(--omission); } .tag.wrong { color: var(--wrong); }
.tag.invention { color: var(--invention); }
.pair { display: flex; flex-wrap: wrap; gap: 40px; } .pair section { flex: 0 1 400px; }
svg { width: 100%; height: auto; display: block; font: 12px system-ui, sans-serif; }
svg text { fill: var(--ink); } svg .tick, svg .axis { fill: var(--faint); font-size: 11px; }
svg .figure { font-variant-numeric: tabular-nums; }
svg .grid { stroke: var(--line); } svg .ideal { stroke: var(--faint); stroke-dasharray: 4 4; }
svg .series0, svg .dot { fill: var(--blue); } svg .series1 { fill: var(--orange); } svg .dot { fill-opacity: 0.6; }
.key { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 4px; }
.key.series0 { background: var(--blue); } .key.series1 { background: var(--orange); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } th, td { padding: 5px 10px 5px 0; vertical-align: top; }
thead th { text-align: left; color: var(--faint); font-weight: normal; font-size: 13px; }
tbody tr { border-top: 1px solid var(--line); }
tbody th { text-align: left; font-weight: 500; overflow-wrap: anywhere; }
table.numbers td { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
table.numbers thead th:not(:first-child) { text-align: right; }
.better { color: var(--good); font-weight: 600; } .worse { color: var(--wrong); font-weight: 600; }
table.wrong { table-layout: fixed; min-width: 760px; }
table.wrong th:nth-child(1) { width: 26%; } table.wrong th:nth-child(2) { width: 34%; }
table.wrong img { max-width: 100%; border: 1px solid var(--line); border-radius: 4px; background: #fff; }
summary { cursor: pointer; } summary h2 { display: inline-block; margin: 18px 0 8px; }
details.document { border-top: 1px solid var(--line); padding: 6px 0; }
.thumbnails { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0; }
.thumbnails img { width: 96px; border: 1px solid var(--line); background: #fff; }
ul { padding-left: 20px; }
"""
