// The interactive part of a report: reads the points from the page, draws panes with dygraphs, and keeps one time
// window and one cursor for all of them. Everything else on the page is plain HTML.
'use strict';
(async () => {
  const $ = (selector, root = document) => root.querySelector(selector);
  const make = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };
  const write = (v, digits) => {
    const size = Math.abs(v), rounded = +v.toPrecision(digits);
    return (size !== 0 && (size < 1e-3 || size >= 1e6) ? rounded.toExponential() : String(rounded)).replace(/-/g, '−');
  };
  const number = (v) => (Number.isFinite(v) ? write(v, 7) : '–');

  // ---- Data -----------------------------------------------------------------------------------------------------
  // A run: { time, mode, signals: [{name, unit, description, column, factor}], index: Map name -> signal }.

  // The points are column after column of little-endian doubles; of each column first all lowest bytes, then all
  // second ones and so on, which compresses far better.
  async function decode(root) {
    const head = JSON.parse($('#run', root).textContent);
    const text = $('#points', root).textContent.trim();
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const columns = [];
    for (let c = 0; c < head.columns + 2; ++c) {
      const column = new Float64Array(head.points), out = new Uint8Array(column.buffer);
      for (let b = 0; b < 8; ++b) {
        const from = (c * 8 + b) * head.points;
        for (let k = 0; k < head.points; ++k) out[k * 8 + b] = bytes[from + k];
      }
      columns.push(column);
    }
    const signals = head.signals.map(([name, unit, description, column, factor]) =>
      ({ name, unit, description, factor, values: column < 0 ? null : columns[column + 2] }));
    return finish_run({ ...head, time: columns[0], mode: columns[1], signals });
  }

  function finish_run(run) {
    run.index = new Map(run.signals.map((signal) => [signal.name, signal]));
    return run;
  }

  // Another run as comma-separated values: names in the first line, time in the first column.
  function read_csv(text) {
    const lines = text.split(/\r?\n/).filter((line) => line.length > 0);
    const names = [...lines[0].matchAll(/"((?:[^"]|"")*)"|([^,]+)|(?<=,)(?=,|$)/g)].map((m) =>
      (m[1] === undefined ? (m[2] || '') : m[1].replaceAll('""', '"')).replace(/ \[[^\]]*\]$/, '').trim());
    const points = lines.length - 1;
    const columns = names.map(() => new Float64Array(points));
    for (let k = 0; k < points; ++k)
      lines[k + 1].split(',').forEach((field, c) => { if (columns[c]) columns[c][k] = field === '' ? NaN : Number(field); });
    if (points < 1 || !columns[0].every(Number.isFinite)) throw new Error('its first column holds no times');
    const signals = names.slice(1).map((name, c) => ({ name, unit: '', description: '', factor: 1, values: columns[c + 1] }));
    return finish_run({ time: columns[0], signals, modes: [], events: [] });
  }

  const value_at = (signal, k) => (signal.values ? signal.factor * signal.values[k] : signal.factor);

  // The first point at or after t.
  function lower_bound(time, t) {
    let low = 0, high = time.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (time[middle] < t) low = middle + 1; else high = middle;
    }
    return low;
  }

  // Between points the value is interpolated; at an event it is the value after it.
  function interpolate(run, signal, t) {
    const time = run.time;
    let k = lower_bound(time, t);
    while (k + 1 < time.length && time[k] === t && time[k + 1] === t) ++k;
    if (k === 0) return time[0] === t ? value_at(signal, 0) : NaN;
    if (k >= time.length) return NaN;
    if (time[k] === t) return value_at(signal, k);
    const a = value_at(signal, k - 1), b = value_at(signal, k);
    return a + ((b - a) * (t - time[k - 1])) / (time[k] - time[k - 1]);
  }

  // Lowest and highest values of blocks of points, made once for each column.
  const kBlock = 256;
  const blocks = new WeakMap();
  function blocks_of(values) {
    if (!blocks.has(values)) {
      const count = Math.ceil(values.length / kBlock);
      const low = new Float64Array(count), high = new Float64Array(count);
      for (let b = 0; b < count; ++b) [low[b], high[b]] = scan(values, b * kBlock, Math.min(values.length, (b + 1) * kBlock));
      blocks.set(values, { low, high });
    }
    return blocks.get(values);
  }
  function scan(values, begin, end, low = Infinity, high = -Infinity) {
    for (let k = begin; k < end; ++k) {
      const v = values[k];
      if (v < low) low = v;
      if (v > high) high = v;
    }
    return [low, high];
  }
  function extremes(signal, begin, end) {
    if (!signal.values) return [signal.factor, signal.factor];
    let low = Infinity, high = -Infinity, k = begin;
    if (end - begin > 4 * kBlock) {
      const known = blocks_of(signal.values), first = Math.ceil(begin / kBlock), last = Math.floor(end / kBlock);
      [low, high] = scan(signal.values, begin, first * kBlock);
      for (let b = first; b < last; ++b) {
        if (known.low[b] < low) low = known.low[b];
        if (known.high[b] > high) high = known.high[b];
      }
      k = last * kBlock;
    }
    [low, high] = scan(signal.values, k, end, low, high);
    if (low > high) return [NaN, NaN];
    return signal.factor < 0 ? [signal.factor * high, signal.factor * low] : [signal.factor * low, signal.factor * high];
  }

  // Rows [t, value, ...] of the window: all points while they are few, else lowest and highest of each bucket, so
  // that no peak is lost and a million points cost no more than a thousand.
  function rows_of(run, signals, [from, to], buckets) {
    const time = run.time;
    const begin = Math.max(0, lower_bound(time, from) - 1);
    const end = Math.min(time.length, lower_bound(time, to) + 2);
    const rows = [];
    if (end - begin <= 4 * buckets) {
      for (let k = begin; k < end; ++k) rows.push([time[k], ...signals.map((signal) => value_at(signal, k))]);
      return rows;
    }
    for (let b = 0; b < buckets; ++b) {
      const first = begin + Math.floor((b * (end - begin)) / buckets);
      const last = begin + Math.floor(((b + 1) * (end - begin)) / buckets);
      const both = signals.map((signal) => extremes(signal, first, last));
      rows.push([time[first], ...both.map((pair) => pair[0])], [time[last - 1], ...both.map((pair) => pair[1])]);
    }
    return rows;
  }

  // ---- State ----------------------------------------------------------------------------------------------------
  let run;
  try {
    run = await decode(document);
  } catch (error) {
    const note = $('#signals-note');
    if (note) note.textContent = `The plots could not be read: ${error.message}. The tables below hold what happened.`;
    return;
  }
  if (!run.points) return;
  const whole = [run.time[0], run.time[run.time.length - 1]];
  if (whole[0] === whole[1]) whole[1] += 1e-9 + Math.abs(whole[0]) * 1e-9;
  // A run over many decades has a logarithmic axis, which cannot show time 0; the window is moved and zoomed along it.
  if (run.logarithmic) whole[0] = run.time.find((t) => t > 0);
  const along = run.logarithmic ? Math.log : (t) => t;
  const time_at = run.logarithmic ? Math.exp : (s) => s;
  let view = whole.slice();
  let other = null;  // a run to compare with
  const panes = [];
  let active = null;
  const hidden_modes = new Set();
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const color_of = (slot) => style(`--s${(slot % 6) + 1}`);
  const tint = (mode, strength = 1) => {
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    return `hsl(${(mode * 137.5 + 210) % 360} ${dark ? 45 : 65}% ${dark ? 55 : 50}% / ${(dark ? 0.2 : 0.14) * strength})`;
  };

  const bands = [];  // { mode, from, to }
  for (let k = 0; k < run.time.length; ++k) {
    const band = bands[bands.length - 1];
    if (band && band.mode === run.mode[k]) band.to = run.time[k];
    else {
      if (band) band.to = run.time[k];
      bands.push({ mode: run.mode[k], from: run.time[k], to: run.time[k] });
    }
  }

  // ---- Panes ----------------------------------------------------------------------------------------------------
  const list = $('#panes');

  function add_pane(names = []) {
    const pane = { signals: [], hidden: new Set() };
    pane.caption = make('figcaption');
    pane.plot = make('div', { className: 'plot' });
    pane.line = make('div', { className: 'cursor' });
    const close = make('button', { className: 'close', type: 'button', textContent: '×', title: 'Remove this pane' });
    close.setAttribute('aria-label', 'Remove this pane');
    close.onclick = () => remove_pane(pane);
    pane.figure = make('figure', { tabIndex: 0 }, close, pane.caption, pane.plot);
    pane.figure.setAttribute('role', 'group');
    pane.figure.addEventListener('pointerdown', () => activate(pane));
    pane.figure.addEventListener('focusin', () => activate(pane));
    pane.figure.addEventListener('keydown', on_key);
    pane.figure.addEventListener('dragover', (event) => { event.preventDefault(); pane.figure.classList.add('target'); });
    pane.figure.addEventListener('dragleave', () => pane.figure.classList.remove('target'));
    pane.figure.addEventListener('drop', (event) => {
      event.preventDefault();
      pane.figure.classList.remove('target');
      const name = event.dataTransfer.getData('text/plain');
      if (run.index.has(name)) add_signal(pane, name);
    });
    list.append(pane.figure);
    panes.push(pane);
    activate(pane);
    for (const name of names) if (run.index.has(name)) pane.signals.push(run.index.get(name));
    refresh(pane);
    return pane;
  }

  function remove_pane(pane) {
    if (pane.graph) pane.graph.destroy();
    pane.figure.remove();
    panes.splice(panes.indexOf(pane), 1);
    if (active === pane) active = null;
    if (panes.length) activate(panes[panes.length - 1]);
    mark_tree();
  }

  function activate(pane) {
    if (active === pane) return;
    if (active) active.figure.classList.remove('active');
    active = pane;
    pane.figure.classList.add('active');
  }

  function add_signal(pane, name) {
    if (!pane.signals.some((signal) => signal.name === name)) pane.signals.push(run.index.get(name));
    refresh(pane);
  }
  function remove_signal(pane, name) {
    pane.signals = pane.signals.filter((signal) => signal.name !== name);
    pane.hidden.delete(name);
    refresh(pane);
  }

  // Where two runs are compared their points interleave; null means "no point here", NaN "no value".
  function table_of(pane) {
    const buckets = Math.max(100, Math.floor(pane.plot.clientWidth || 600));
    const [first, last] = view.map(along), margin = 0.02 * (last - first);
    const range = [time_at(first - margin), time_at(last + margin)];
    const rows = rows_of(run, pane.signals, range, buckets);
    if (!other) return rows;
    const theirs = pane.signals.map((signal) => other.index.get(signal.name) || { values: null, factor: NaN });
    const empty = pane.signals.map(() => null);
    const second = rows_of(other, theirs, range, buckets);
    const merged = [...rows.map((row) => [...row, ...empty]), ...second.map(([t, ...values]) => [t, ...empty, ...values])];
    return merged.map((row, k) => [row, k]).sort(([a, i], [b, k]) => a[0] - b[0] || i - k).map(([row]) => row);
  }

  function labels_of(pane) {
    const labels = ['time', ...pane.signals.map((signal) => signal.name)];
    return other ? [...labels, ...pane.signals.map((signal) => `${signal.name} (other run)`)] : labels;
  }

  // A new signal, run or colour scheme: the graph is made again.
  function refresh(pane) {
    mark_tree();
    write_caption(pane);
    if (pane.graph) pane.graph.destroy();
    pane.graph = null;
    pane.plot.replaceChildren();
    if (!pane.signals.length) {
      pane.plot.append(make('p', { className: 'note', textContent: 'Choose a signal from the list, or drag one here.' }));
      return;
    }
    const units = [...new Set(pane.signals.map((signal) => signal.unit))];
    const colors = pane.signals.map((_, slot) => color_of(slot));
    const series = {};
    if (other) pane.signals.forEach((signal) => { series[`${signal.name} (other run)`] = { strokePattern: [6, 4] }; });
    pane.graph = new Dygraph(pane.plot, table_of(pane), {
      labels: labels_of(pane), colors: other ? [...colors, ...colors] : colors, series,
      visibility: visibility_of(pane), dateWindow: view, legend: 'never', strokeWidth: 1.6,
      connectSeparatedPoints: true, drawPoints: false, highlightCircleSize: 3,
      axisLineColor: style('--soft'), gridLineColor: style('--line'), axisLabelFontSize: 12,
      xRangePad: 0, yRangePad: 6,
      axes: { y: { axisLabelWidth: 62, axisLabelFormatter: short }, x: { axisLabelFormatter: short, logscale: run.logarithmic } },
      ylabel: units.length === 1 && units[0] !== '1' ? units[0] : '', xlabel: 'time [s]', xLabelHeight: 16, yLabelWidth: 16,
      underlayCallback: draw_underlay, interactionModel: interaction(pane), highlightCallback: null,
    });
    pane.plot.append(pane.line);
  }

  const short = (v) => write(v, 6);
  const visibility_of = (pane) => {
    const own = pane.signals.map((signal) => !pane.hidden.has(signal.name));
    return other ? [...own, ...own] : own;
  };

  function write_caption(pane) {
    const entries = pane.signals.map((signal, slot) => {
      const key = make('i');
      key.style.background = color_of(slot);
      const value = make('b', { className: 'value' });
      const toggle = make('button', { type: 'button', className: 'legend', title: signal.description || signal.name }, key, signal.name, value);
      toggle.setAttribute('aria-pressed', String(!pane.hidden.has(signal.name)));
      toggle.onclick = () => {
        if (!pane.hidden.delete(signal.name)) pane.hidden.add(signal.name);
        toggle.setAttribute('aria-pressed', String(!pane.hidden.has(signal.name)));
        pane.graph.updateOptions({ visibility: visibility_of(pane) });
      };
      const remove = make('button', { type: 'button', className: 'remove', textContent: '×' });
      remove.setAttribute('aria-label', `Remove ${signal.name} from this pane`);
      remove.onclick = () => remove_signal(pane, signal.name);
      return make('span', {}, toggle, remove);
    });
    pane.caption.replaceChildren(...entries);
    pane.figure.setAttribute('aria-label', pane.signals.length
      ? `Plot of ${pane.signals.map((signal) => signal.name).join(', ')} over time` : 'Empty plot');
  }

  function draw_underlay(context, area, graph) {
    const [from, to] = graph.xAxisRange();
    const x = (t) => Math.min(Math.max(graph.toDomXCoord(t), area.x), area.x + area.w);
    if (run.modes.length > 1) {
      for (const band of bands) {
        if (band.to < from || band.from > to || hidden_modes.has(band.mode)) continue;
        context.fillStyle = tint(band.mode);
        context.fillRect(x(band.from), area.y, Math.max(x(band.to) - x(band.from), 0.5), area.h);
      }
    }
    context.strokeStyle = style('--soft');
    context.globalAlpha = 0.5;
    context.setLineDash([2, 3]);
    context.beginPath();
    let last = -10;
    for (let k = lower_bound(run.events, from); k < run.events.length && run.events[k] <= to; ++k) {
      const at = x(run.events[k]);
      if (at - last < 1) continue;
      last = at;
      context.moveTo(at, area.y);
      context.lineTo(at, area.y + area.h);
    }
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  // ---- One window and one cursor --------------------------------------------------------------------------------
  let pending = false;
  function show(window) {
    let [from, to] = window.map((t) => along(Math.min(Math.max(t, run.logarithmic ? whole[0] : -Infinity), Infinity)));
    const [first, last] = whole.map(along);
    if (!(to - from > 1e-12 * Math.max(Math.abs(first), Math.abs(last), 1e-3))) return;
    const span = Math.min(to - from, last - first);
    from = Math.min(Math.max(from, first), last - span);
    view = [from, from + span].map(time_at);
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => {
      pending = false;
      for (const pane of panes) {
        if (!pane.graph) continue;
        pane.stale = !is_visible(pane);
        if (!pane.stale) draw(pane);
      }
      draw_timeline();
    });
  }
  const draw = (pane) => pane.graph.updateOptions({ file: table_of(pane), dateWindow: view });
  const is_visible = (pane) => {
    const box = pane.figure.getBoundingClientRect();
    return box.bottom > -200 && box.top < innerHeight + 200;
  };
  addEventListener('scroll', () => {
    for (const pane of panes) if (pane.stale && pane.graph && is_visible(pane)) { pane.stale = false; draw(pane); }
  }, { passive: true });

  const zoom = (factor, center = time_at(0.5 * (along(view[0]) + along(view[1])))) => {
    const middle = along(center);
    show(view.map((t) => time_at(middle + (along(t) - middle) * factor)));
  };
  const pan = (share, window = view) => {
    const shift = share * (along(window[1]) - along(window[0]));
    show(window.map((t) => time_at(along(t) + shift)));
  };

  function on_key(event) {
    if (event.target.closest('button')) return;
    const actions = {
      ArrowLeft: () => pan(-0.1), ArrowRight: () => pan(0.1), '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2),
      0: () => show(whole), Home: () => show(whole),
    };
    if (event.ctrlKey || event.metaKey || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  // Drag selects a range of time, shift and drag (or the middle button, or one finger) moves it.
  function interaction(pane) {
    const at = (event) => {
      const box = pane.plot.getBoundingClientRect();
      return pane.graph.toDataXCoord((event.touches ? event.touches[0] : event).clientX - box.left);
    };
    let touch = null;
    return {
      mousedown(event, graph, context) {
        context.initializeMouseDown(event, graph, context);
        const start = at(event), window = view.slice();
        const moving = event.shiftKey || event.button === 1 || mode_of_drag === 'move';
        const shade = make('div', { className: 'selection' });
        if (!moving) pane.plot.append(shade);
        const move = (next) => {
          if (moving) {
            pan((event.clientX - next.clientX) / pane.graph.getArea().w, window);
          } else {
            const [a, b] = [start, at(next)].map((t) => pane.graph.toDomXCoord(Math.min(Math.max(t, view[0]), view[1])));
            Object.assign(shade.style, { left: `${Math.min(a, b)}px`, width: `${Math.abs(b - a)}px` });
          }
        };
        const end = (last) => {
          removeEventListener('mousemove', move);
          removeEventListener('mouseup', end);
          shade.remove();
          const stop = at(last);
          if (!moving && Math.abs(last.clientX - event.clientX) > 4) show([Math.min(start, stop), Math.max(start, stop)]);
        };
        addEventListener('mousemove', move);
        addEventListener('mouseup', end);
      },
      mousemove(event) { put_cursor(at(event)); },
      mouseout() { put_cursor(null); },
      dblclick() { show(whole); },
      wheel(event) {
        if (!event.ctrlKey && !event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
        event.preventDefault();
        if (event.ctrlKey) zoom(Math.exp(event.deltaY * 0.004), at(event));
        else pan((event.deltaX || event.deltaY) * 0.001);
      },
      touchstart(event) { touch = { x: event.touches[0].clientX, window: view.slice(), spread: spread(event) }; put_cursor(at(event)); },
      touchmove(event) {
        event.preventDefault();
        if (event.touches.length > 1 && touch.spread) {
          view = touch.window.slice();
          zoom(touch.spread / spread(event));
        } else {
          pan((touch.x - event.touches[0].clientX) / pane.graph.getArea().w, touch.window);
        }
      },
      touchend() { touch = null; },
    };
  }
  const spread = (event) => (event.touches.length > 1 ? Math.abs(event.touches[0].clientX - event.touches[1].clientX) || 1 : 0);

  function put_cursor(t) {
    const inside = t !== null && t >= whole[0] && t <= whole[1];
    for (const pane of panes) {
      if (!pane.graph) continue;
      pane.line.style.display = inside ? 'block' : 'none';
      if (inside) pane.line.style.left = `${pane.graph.toDomXCoord(t)}px`;
      pane.caption.querySelectorAll('.value').forEach((field, k) => {
        if (!inside || !pane.signals[k]) { field.textContent = ''; return; }
        let text = number(interpolate(run, pane.signals[k], t));
        const theirs = other && other.index.get(pane.signals[k].name);
        if (theirs) text += ` | ${number(interpolate(other, theirs, t))}`;
        field.textContent = text;
      });
    }
    if (inside) draw_mechanism(t);
    const band = inside && bands.find((candidate) => t >= candidate.from && t <= candidate.to);
    $('#cursor-time').textContent = inside ? `t = ${number(t)} s${band && run.modes.length > 1 ? ` · ${run.modes[band.mode]}` : ''}` : '';
  }

  // ---- The mechanism --------------------------------------------------------------------------------------------
  // Lines through points whose coordinates are numbers or signals, coloured by mode; the path of the last point of each
  // line stays behind it.
  const canvas = $('#drawing-canvas');
  const strokes = (run.drawing || []).map((line) => line.map((point) => point.map((c) => (typeof c === 'number' ? { values: null, factor: c } : run.index.get(c)))));
  let frame_of_drawing = null;
  function bounds_of_drawing() {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const point of strokes.flat()) {
      const [x0, x1] = extremes(point[0], 0, run.time.length), [y0, y1] = extremes(point[1], 0, run.time.length);
      if (x0 < left) left = x0;
      if (x1 > right) right = x1;
      if (y0 < low) low = y0;
      if (y1 > high) high = y1;
    }
    const span = Math.max(right - left, high - low) || 1;
    return { left, right, low, high, margin: 0.08 * span };
  }
  function draw_mechanism(t) {
    if (!canvas || !strokes.length) return;
    frame_of_drawing = frame_of_drawing || bounds_of_drawing();
    const { left, right, low, high, margin } = frame_of_drawing;
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext('2d');
    const scale = Math.min(width / (right - left + 2 * margin), height / (high - low + 2 * margin));
    const x = (v) => width / 2 + (v - (left + right) / 2) * scale, y = (v) => height / 2 - (v - (low + high) / 2) * scale;
    context.scale(ratio, ratio);
    const band = bands.find((candidate) => t >= candidate.from && t <= candidate.to);
    const color = band ? `hsl(${(band.mode * 137.5 + 210) % 360} 65% ${matchMedia('(prefers-color-scheme: dark)').matches ? 65 : 40}%)` : style('--ink');
    context.strokeStyle = style('--line');
    context.lineWidth = 1;
    const last = lower_bound(run.time, t), step = Math.max(1, Math.floor(last / 2000));
    for (const line of strokes) {
      const [px, py] = line[line.length - 1];
      if (!px.values && !py.values) continue;
      context.beginPath();
      for (let k = 0; k < last; k += step) context.lineTo(x(value_at(px, k)), y(value_at(py, k)));
      context.stroke();
    }
    context.strokeStyle = context.fillStyle = color;
    context.lineWidth = 4;
    context.lineJoin = context.lineCap = 'round';
    for (const line of strokes) {
      const points = line.map(([px, py]) => [x(interpolate(run, px, t)), y(interpolate(run, py, t))]);
      context.beginPath();
      for (const point of points) context.lineTo(...point);
      context.stroke();
      for (const point of points) {
        context.beginPath();
        context.arc(...point, 6, 0, 2 * Math.PI);
        context.fill();
      }
    }
    $('#drawing-state').textContent = `t = ${number(t)} s${band && run.modes.length > 1 ? ` · ${run.modes[band.mode]}` : ''}`;
    $('#drawing-time').value = 1000 * (t - whole[0]) / (whole[1] - whole[0]);
  }
  if (canvas && strokes.length) {
    $('#drawing').hidden = false;
    const time_of_slider = () => whole[0] + ((whole[1] - whole[0]) * $('#drawing-time').value) / 1000;
    $('#drawing-time').addEventListener('input', () => put_cursor(time_of_slider()));
    let begun = null;  // clock and model time when the play began
    const stop = () => { begun = null; $('#play').textContent = '▶ Play'; $('#play').setAttribute('aria-pressed', 'false'); };
    const tick = (now) => {
      if (!begun) return;
      const speed = Math.max((whole[1] - whole[0]) / 20, Math.min(1, (whole[1] - whole[0]) / 4));  // 4 to 20 s, else real time
      const t = begun.t + ((now - begun.now) / 1000) * speed;
      if (t >= whole[1]) { put_cursor(whole[1]); stop(); return; }
      put_cursor(t);
      requestAnimationFrame(tick);
    };
    $('#play').addEventListener('click', () => {
      if (begun) { stop(); return; }
      const t = time_of_slider();
      begun = { now: performance.now(), t: t >= whole[1] * (1 - 1e-3) ? whole[0] : t };
      $('#play').textContent = '❚❚ Pause';
      $('#play').setAttribute('aria-pressed', 'true');
      requestAnimationFrame(tick);
    });
  }

  // ---- Modes over time ------------------------------------------------------------------------------------------
  const timeline = $('#timeline');
  function draw_timeline() {
    $('#window').textContent = `${number(view[0])} … ${number(view[1])} s`;
    if (!timeline) return;
    const start = along(view[0]), span = along(view[1]) - start;
    const shown = bands.filter((band) => band.to >= view[0] && band.from <= view[1] && !hidden_modes.has(band.mode));
    timeline.replaceChildren(...shown.slice(0, 2000).map((band) => {
      const from = Math.max(band.from, view[0]), to = Math.min(band.to, view[1]);
      const name = run.modes[band.mode];
      const node = make('button', { type: 'button', title: `${name}: ${number(band.from)} … ${number(band.to)} s` });
      node.setAttribute('aria-label', node.title);
      const room = (timeline.clientWidth * (along(to) - along(from))) / span;
      if (room > 24) node.append(make('span', { textContent: name }));
      Object.assign(node.style, { left: `${(100 * (along(from) - start)) / span}%`, width: `${(100 * (along(to) - along(from))) / span}%`, background: tint(band.mode, 2.5) });
      const margin = 0.05 * (band.to - band.from) || 0.01 * (view[1] - view[0]);
      node.onclick = () => show([band.from - margin, band.to + margin]);
      return node;
    }));
  }
  document.querySelectorAll('[data-mode]').forEach((cell) => {
    const mode = Number(cell.dataset.mode);
    const box = make('input', { type: 'checkbox', checked: true });
    box.setAttribute('aria-label', `Show mode ${run.modes[mode]} in the plots`);
    box.onchange = () => {
      if (box.checked) hidden_modes.delete(mode); else hidden_modes.add(mode);
      show(view);
    };
    const swatch = make('i', { className: 'swatch' });
    swatch.style.background = tint(mode, 3.5);
    cell.prepend(box, swatch);
  });

  // ---- The list of signals --------------------------------------------------------------------------------------
  const tree = $('#tree');
  // der(a.b.x) stands beside a.b.x.
  const path_of = (name) => {
    const [, inner] = /^der\((.*)\)$/.exec(name) || [];
    const parts = (inner || name).match(/[^.[\]]+(?:\[[^\]]*\])*/g) || [name];
    if (inner) parts.push(`der(${parts.pop()})`);
    return parts;
  };
  const root = { children: new Map(), signals: [] };
  for (const signal of run.signals) {
    const parts = path_of(signal.name);
    let node = root;
    for (const part of parts.slice(0, -1)) {
      if (!node.children.has(part)) node.children.set(part, { children: new Map(), signals: [] });
      node = node.children.get(part);
    }
    node.signals.push({ signal, label: parts[parts.length - 1] });
  }

  function leaf(signal, label) {
    const text = [signal.unit && `[${signal.unit}]`, signal.description].filter(Boolean).join(' ');
    const node = make('button', { type: 'button', className: 'leaf', draggable: true, title: text || signal.name },
      make('span', { textContent: label }), make('em', { textContent: signal.unit === '1' ? '' : signal.unit }));
    node.dataset.name = signal.name;
    node.setAttribute('aria-label', `Plot ${signal.name}`);
    node.onclick = () => {
      const pane = active || add_pane();
      if (pane.signals.some((shown) => shown.name === signal.name)) remove_signal(pane, signal.name);
      else add_signal(pane, signal.name);
    };
    node.addEventListener('dragstart', (event) => event.dataTransfer.setData('text/plain', signal.name));
    return node;
  }
  // Branches are filled when they are opened.
  function fill(container, node) {
    for (const [name, child] of node.children) {
      const branch = make('details', {}, make('summary', { textContent: name }));
      branch.addEventListener('toggle', () => { if (branch.open && branch.children.length === 1) { fill(branch, child); mark_tree(); } });
      container.append(branch);
    }
    for (const { signal, label } of node.signals) container.append(leaf(signal, label));
  }
  function mark_tree() {
    const drawn = new Set(panes.flatMap((pane) => pane.signals.map((signal) => signal.name)));
    tree.querySelectorAll('.leaf').forEach((node) => node.setAttribute('aria-pressed', String(drawn.has(node.dataset.name))));
  }
  const kMostFound = 200;
  $('#search').addEventListener('input', (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    tree.replaceChildren();
    if (!words.length) { fill(tree, root); mark_tree(); return; }
    const found = run.signals.filter((signal) => words.every((word) => `${signal.name} ${signal.description}`.toLowerCase().includes(word)));
    tree.append(...found.slice(0, kMostFound).map((signal) => leaf(signal, signal.name)));
    const rest = found.length - kMostFound;
    if (!found.length || rest > 0) tree.append(make('p', { className: 'note', textContent: found.length ? `${rest} more; type more of the name` : 'No signal of that name' }));
    mark_tree();
  });

  // ---- Buttons, events, another run -----------------------------------------------------------------------------
  let mode_of_drag = 'select';
  $('#drag').onclick = (event) => {
    mode_of_drag = mode_of_drag === 'select' ? 'move' : 'select';
    event.target.setAttribute('aria-pressed', String(mode_of_drag === 'move'));
  };
  $('#reset').onclick = () => show(whole);
  $('#zoom-in').onclick = () => zoom(0.5);
  $('#zoom-out').onclick = () => zoom(2);
  $('#new-pane').onclick = () => { add_pane(); active.figure.scrollIntoView({ block: 'nearest' }); };
  document.querySelectorAll('tr[data-time]').forEach((row) => {
    const time = Number(row.dataset.time);
    const button = make('button', { type: 'button', className: 'jump', textContent: row.cells[1].textContent, title: 'Zoom to ±10 ms around this event' });
    row.cells[1].replaceChildren(button);
    row.addEventListener('click', () => {
      show([time - 0.01, time + 0.01]);
      $('#signals').scrollIntoView({ block: 'start' });
    });
  });
  $('#compare').addEventListener('change', async (event) => {
    const file = event.target.files[0], note = $('#compare-note');
    if (!file) return;
    try {
      const text = await file.text();
      other = /<script[^>]*id="run"/.test(text) ? await decode(new DOMParser().parseFromString(text, 'text/html')) : read_csv(text);
      const common = run.signals.filter((signal) => other.index.has(signal.name)).length;
      if (!common) throw new Error('it has no signal in common with this run');
      note.textContent = `Dashed: ${file.name}, ${common} signals in common`;
      const stop = make('button', { type: 'button', textContent: 'Stop comparing' });
      stop.onclick = () => { other = null; note.replaceChildren(); panes.forEach(refresh); };
      note.append(' ', stop);
    } catch (error) {
      other = null;
      note.textContent = `${file.name} cannot be compared: ${error.message}`;
    }
    event.target.value = '';
    panes.forEach(refresh);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { panes.forEach(refresh); draw_timeline(); });
  addEventListener('beforeprint', () => panes.forEach((pane) => pane.graph && pane.graph.resize()));

  fill(tree, root);
  for (const names of run.panels) add_pane(names);
  if (!panes.length) add_pane();
  activate(panes[0]);
  draw_timeline();
  draw_mechanism(whole[0]);
  document.documentElement.dataset.ready = 'true';
})();
