#pragma once

namespace saltus {

// Style sheet and script of the report. Series colours keep their order in both schemes and differ
// in lightness as well as hue, so that they survive colour blindness and grey printing.
inline constexpr const char* kReportStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #f6f6f3; --card: #ffffff; --ink: #1c2024; --soft: #5d6670; --line: #e2e3df;
  --good: #1a7f4b; --bad: #b3261e; --warn: #8a5a00; --accent: #1f5fbf;
  --s1: #1f66c1; --s2: #d2570a; --s3: #0b8a68; --s4: #b0398f; --s5: #8a6d00; --s6: #4b4f9e;
  --m1: transparent; --m2: #2b6fd11a; --m3: #c98a0020; --m4: #7a3fb81a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171a; --card: #1d2125; --ink: #e6e8ea; --soft: #9aa4ae; --line: #32383e;
    --good: #4cc38a; --bad: #ff8a80; --warn: #e5b454; --accent: #7db3ff;
    --s1: #64a8ff; --s2: #ff9550; --s3: #37c79b; --s4: #ea86cd; --s5: #d8b93f; --s6: #a3a7f5;
    --m2: #64a8ff22; --m3: #e5b4541f; --m4: #c79bff22;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { max-width: 1360px; margin: 0 auto; padding: 28px 24px 48px; }
h1 { margin: 0 0 2px; font-size: 26px; line-height: 1.25; letter-spacing: -0.01em; }
h2 { margin: 34px 0 10px; font-size: 17px; }
.sub, .note { color: var(--soft); margin: 0; }
.note { font-size: 13px; margin-top: 10px; }
.banner {
  margin: 18px 0; padding: 11px 16px; border-radius: 8px; background: var(--card);
  border: 1px solid var(--line); border-left: 5px solid var(--state);
}
.banner b { color: var(--state); }
.good { --state: var(--good); } .bad { --state: var(--bad); } .warn { --state: var(--warn); }
.banner ul { margin: 4px 0 0; padding-left: 20px; }
.keys { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 12px; margin: 0; }
.keys div, figure, .table, details {
  background: var(--card); border: 1px solid var(--line); border-radius: 8px;
}
.keys div { padding: 10px 14px; }
.keys dt { color: var(--soft); font-size: 12.5px; }
.keys dd { margin: 0; font-size: 19px; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr)); gap: 14px; }
figure output i { margin-left: 14px; }
figure { margin: 0; padding: 12px 14px 3px; max-width: 860px; }
figcaption { display: flex; flex-wrap: wrap; gap: 2px 16px; font-size: 13.5px; font-weight: 600; min-height: 21px; }
figure i { display: inline-block; width: 14px; height: 3px; border-radius: 2px; margin-right: 6px; vertical-align: middle; background: var(--c); }
figcaption em { color: var(--soft); font-style: normal; font-weight: 400; }
figure output { display: block; height: 19px; overflow: hidden; white-space: nowrap; text-align: right; font-size: 12.5px; color: var(--soft); font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 11px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: var(--soft); font-variant-numeric: tabular-nums; }
svg .x, svg .mode { text-anchor: middle; } svg .y { text-anchor: end; }
svg .unit { fill: var(--ink); }
.grid, .zero, .axis, .event, .cursor, .curve { fill: none; vector-effect: non-scaling-stroke; }
.grid { stroke: var(--line); } .zero, .axis { stroke: var(--soft); stroke-opacity: 0.7; }
.event { stroke: var(--soft); stroke-opacity: 0.55; stroke-dasharray: 2 3; }
.cursor { stroke: var(--accent); }
.curve { stroke: var(--c); stroke-width: 1.7; stroke-linejoin: round; stroke-linecap: round; }
.left { fill: var(--card); stroke: var(--c); stroke-width: 1.3; } .right { fill: var(--c); stroke: var(--c); stroke-width: 1.3; }
.s1 { --c: var(--s1); } .s2 { --c: var(--s2); } .s3 { --c: var(--s3); }
.s4 { --c: var(--s4); } .s5 { --c: var(--s5); } .s6 { --c: var(--s6); }
.m1 { fill: var(--m1); } .m2 { fill: var(--m2); } .m3 { fill: var(--m3); } .m4 { fill: var(--m4); }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th, td { padding: 6px 14px; text-align: left; border-bottom: 1px solid var(--line); white-space: nowrap; vertical-align: top; }
th { color: var(--soft); font-weight: 600; font-size: 12.5px; }
tr:last-child td { border-bottom: 0; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td.t { white-space: normal; min-width: 180px; }
.tag { display: inline-block; padding: 0 8px; border: 1px solid var(--line); border-radius: 9px; font-size: 12.5px; }
details { margin-top: 14px; } details .table { border: 0; border-top: 1px solid var(--line); border-radius: 0; }
summary { padding: 9px 14px; cursor: pointer; font-weight: 600; font-size: 14px; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 0 14px; align-items: start; }
@media print { body { background: none; } figure { break-inside: avoid; } }
)css";

// Reads the curves back from their paths, so the page carries every number once.
inline constexpr const char* kReportScript = R"js(
for (const figure of document.querySelectorAll('figure')) {
  const svg = figure.querySelector('svg'), out = figure.querySelector('output');
  const cursor = svg.querySelector('.cursor');
  const list = (key) => svg.dataset[key].split(' ').map(Number);
  const [left, top, width, height] = list('frame'), [t0, t1, log] = list('time'), [v0, v1] = list('value');
  const curves = [...svg.querySelectorAll('.curve')].map((path) =>
    [...path.getAttribute('d').matchAll(/([ML])([^,]+),([^ML]+)/g)].map((m) => [+m[2], +m[3], m[1] === 'M']));
  const text = (v) => String(+v.toPrecision(4));
  const at = (points, x) => {
    let low = 0, high = points.length - 1;
    while (low < high) { const mid = (low + high) >> 1; if (points[mid][0] < x) low = mid + 1; else high = mid; }
    const b = points[low], a = points[low - 1];
    if (!a || b[2] || b[0] === a[0]) return b[1];
    return a[1] + (b[1] - a[1]) * Math.min(1, (x - a[0]) / (b[0] - a[0]));
  };
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width, s = (x - left) / width;
    if (s < 0 || s > 1) return;
    const t = log ? t0 * Math.pow(t1 / t0, s) : t0 + (t1 - t0) * s;
    cursor.setAttribute('d', `M${x},${top}v${height}`);
    const value = (points) => v0 + (v1 - v0) * (1 - (at(points, x) - top) / height);
    out.innerHTML = `time ${text(t)}` + curves.map((points, i) =>
      points.length ? `<i class="s${i + 1}"></i>${text(value(points))}` : '').join('');
  });
  svg.addEventListener('pointerleave', () => { cursor.setAttribute('d', ''); out.textContent = ''; });
}
)js";

}  // namespace saltus
