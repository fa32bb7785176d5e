/**
 * The functions of a build, in the order of their addresses: the index of addresses, page by page.
 */

import { citation } from '../cite.js';
import { byId, count, el, put } from '../dom.js';
import { line, name } from '../escape.js';
import { write } from '../link.js';
import { versioned, unnamed } from '../names.js';
import { head } from '../shell.js';
import { document_ } from '../api.js';
import { keyOf, open } from '../tree.js';
import { VirtualList } from '../virtual.js';

/** Up to so many pages are read at once, so that the scrollbar is exact. */
const AT_ONCE = 64;

const KINDS = { function: '', ifunc: 'resolver', stub: 'stub', gap: 'gap' };

/** @param {any[]} entry @returns {string} the names of a body, for a line */
function names(entry) {
  const [first, ...rest] = entry[5];
  if (!first) return '';
  const shown = new Set([name(first[0])]);
  const also = [];
  for (const [text, version, isDefault] of rest) {
    const other = versioned(text, version, isDefault, 40);
    if (!shown.has(name(text)) && also.length < 3) also.push(other);
    shown.add(name(text));
  }
  return also.join('  ');
}

/** @param {import('../main.js').Context} context @returns {Promise<import('../main.js').Shown>} */
export async function show({ main, link, edition, state, keep }) {
  const { b } = edition;
  const [tree, meta] = await Promise.all([open(b, 'address'), document_(b, 'meta.json')]);
  const all = link.k === 'all';
  const functions = meta.counts.functions;
  const wanted = all ? tree.entries : functions;
  const each = tree.leaves === 0 ? 0 : Math.max(1, Math.round(wanted / tree.leaves));
  const fits = (entry) => all || entry[4] === 'function' || entry[4] === 'ifunc';
  const list = new VirtualList({
    label: 'Functions',
    name: 'functions',
    columns: 4,
    estimates: Array.from({ length: tree.leaves }, () => each),
    load: async (number) => (await tree.leaf(number)).filter(fits),
    open: (entry) => { location.hash = write({ b, w: 'listing', f: keyOf(entry), s: 'source' }); },
    empty: 'No function is known in this build.',
    head: el('div', { class: 'line head-line', role: 'row' },
      ['Address', 'Size', 'Name', 'Also'].map((text, at) => el('span', { role: 'columnheader', class: `cell c${at}` }, text))),
    render: (entry, row) => {
      const first = entry[5][0];
      const key = keyOf(entry);
      const shown = first ? name(first[0]) : unnamed(key);
      const whole = first ? line(first[0]) : '';
      row.classList.add(`body-${entry[4]}`);
      row.append(
        el('span', { role: 'gridcell', class: 'cell c0 mono' }, entry[0]),
        el('span', { role: 'gridcell', class: 'cell c1 mono number' }, count(entry[1])),
        el('span', { role: 'gridcell', class: 'cell c2' },
          KINDS[entry[4]] ? el('span', { class: 'tag' }, KINDS[entry[4]]) : null,
          el('a', { href: write({ b, w: 'listing', f: key, s: 'source' }), class: first ? 'name' : 'name quiet', tabIndex: -1, title: whole && whole !== shown ? whole : null }, shown)),
        el('span', { role: 'gridcell', class: 'cell c3 mono quiet' }, names(entry)),
      );
    },
  });
  const toggle = el('a', { href: write({ b, w: 'listing', k: all ? undefined : 'all' }), class: 'button' }, all ? 'Functions only' : 'Show stubs and gaps too');
  const find = el('button', {
    type: 'button',
    onclick: () => {
      /** @type {HTMLSelectElement} */ (byId('search-kind')).value = 'function';
      byId('search-text').focus();
    },
  }, 'Find by name');
  put(
    main,
    el('div', { class: 'fill' },
      head('Functions', all ? `${count(tree.entries)} bodies: functions, stubs and gaps` : `${count(functions)} functions`, find, toggle,
        el('button', { type: 'button', 'data-cite': true }, 'Copy citation')),
      list.element),
  );
  list.measure();
  if (tree.leaves <= AT_ONCE) {
    await list.need(0);
    // The rest after what is in sight.
    setTimeout(() => list.segments.forEach((_, number) => list.need(number)), 0);
  }
  await list.restore(state?.place);
  list.element.addEventListener('scroll', late(() => keep({ place: list.place })));
  return {
    title: 'Functions',
    focus: list.element,
    dispose: () => list.dispose(),
    cite: () => {
      const first = Math.max(0, Math.floor(list.top));
      const rows = [];
      for (let at = first; at < Math.min(list.total, first + 20); at += 1) {
        const entry = list.item(at);
        if (entry) rows.push(`${entry[0]}  ${entry[1]} bytes  ${entry[5][0] ? name(entry[5][0][0]) : unnamed(keyOf(entry))}`);
      }
      return citation(link, rows.join('\n'));
    },
  };
}

/** Does something once nothing more happens for a while. @param {() => void} act @param {number} [wait] */
export function late(act, wait = 250) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };
}
