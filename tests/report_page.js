// Uses the page of a report as a reader would and writes what came of it into the title. Appended to a report by
// report_page_test.sh.
'use strict';
addEventListener('error', (event) => { document.title = `FAILED ${event.message}`; });
(async () => {
  const failures = [];
  const expect = (condition, what) => { if (!condition) failures.push(what); };
  const frame = () => new Promise((resolve) => setTimeout(resolve, 60));
  const $ = (selector) => document.querySelector(selector);
  try {
    for (let k = 0; k < 100 && !document.documentElement.dataset.ready; ++k) await frame();
    expect(document.documentElement.dataset.ready === 'true', 'the page is not ready');
    const figures = () => [...document.querySelectorAll('#panes figure')];
    expect(figures().length > 0, 'no pane at the start');
    expect(document.querySelector('#panes canvas'), 'nothing is drawn');

    // Find a signal and put it into a pane of its own.
    $('#new-pane').click();
    $('#search').value = 'v';
    $('#search').dispatchEvent(new Event('input'));
    const leaf = [...document.querySelectorAll('.leaf')].find((node) => node.dataset.name === 'v');
    expect(leaf, 'the search does not find v');
    leaf.click();
    const pane = figures()[figures().length - 1];
    expect(pane.getAttribute('aria-label') === 'Plot of v over time', 'v is not in the new pane');
    expect(leaf.getAttribute('aria-pressed') === 'true', 'v is not marked as drawn');

    // Zoom to an event: ±10 ms.
    const row = document.querySelector('tr[data-time]');
    row.click();
    await frame();
    const [from, to] = $('#window').textContent.replace(/−/g, '-').match(/[-\d.e]+/g).map(Number);
    expect(Math.abs(to - from - 0.02) < 1e-6 && Math.abs(0.5 * (from + to) - Number(row.dataset.time)) < 1e-6,
      `the window is ${from} to ${to} after a click on the event at ${row.dataset.time}`);

    // The cursor reads values from the data: before its first impact v = -9.81 t.
    $('#reset').click();
    await frame();
    const canvas = pane.querySelectorAll('canvas')[1], box = canvas.getBoundingClientRect();
    const move = (x) => canvas.dispatchEvent(new MouseEvent('mousemove', { clientX: box.left + x, clientY: box.top + 20, bubbles: true }));
    move(120);
    const t = Number($('#cursor-time').textContent.match(/t = ([\d.]+)/)[1]);
    const value = Number(pane.querySelector('.value').textContent.replace('−', '-'));
    expect(t > 0 && t < 0.45 && Math.abs(value + 9.81 * t) < 1e-5, `v(${t}) is shown as ${value}`);

    // Keys, legend, modes.
    pane.dispatchEvent(new KeyboardEvent('keydown', { key: '+', bubbles: true }));
    await frame();
    expect(!$('#window').textContent.startsWith('0 '), 'the key + does not zoom');
    const legend = pane.querySelector('.legend');
    legend.click();
    expect(legend.getAttribute('aria-pressed') === 'false', 'the legend does not toggle');
    const box_of_mode = document.querySelector('[data-mode] input');
    const bands = $('#timeline').children.length;
    box_of_mode.click();
    $('#reset').click();
    await frame();
    expect($('#timeline').children.length < bands || bands === 1, 'a mode cannot be hidden');

    // Another run, as a CSV file.
    const choose = async (text, name) => {
      const list = new DataTransfer();
      list.items.add(new File([text], name));
      $('#compare').files = list.files;
      $('#compare').dispatchEvent(new Event('change'));
      for (let k = 0; k < 50 && !$('#compare-note').textContent.includes(name); ++k) await frame();
      return $('#compare-note').textContent;
    };
    expect((await choose('time,h,v\n0,1,0\n1,0.5,-1\n', 'other.csv')).includes('2 signals in common'), 'no comparison with a CSV file');
    expect((await choose('nonsense', 'bad.csv')).includes('cannot be compared'), 'a bad file is not refused');
  } catch (error) {
    failures.push(error.message);
  }
  document.title = failures.length ? `FAILED ${failures.join('; ')}` : 'PASSED';
})();
