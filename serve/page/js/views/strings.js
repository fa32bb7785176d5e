/**
 * Strings, objects, pointer tables and other places that code refers to, in the order of their addresses.
 */

import { document_ } from '../api.js';
import { citation } from '../cite.js';
import { count, el, put } from '../dom.js';
import { line, name, quoted } from '../escape.js';
import { write } from '../link.js';
import { versioned } from '../names.js';
import { head } from '../shell.js';
import { dataPages } from '../tree.js';
import { VirtualList } from '../virtual.js';
import { late } from './functions.js';
import { inSight } from './graph.js';

const KINDS = [['', 'everything'], ['string', 'strings'], ['object', 'objects'], ['table', 'pointer tables'], ['place', 'other places']];

/** What an item is, in a line. @param {any} item @param {number} [most] */
export function inWords(item, most) {
  if (item.kind === 'string') return quoted(item.text ?? '', false, most);
  const [first, ...rest] = item.names ?? [];
  if (first) return `${versioned(first.name, first.version, first.default, most)}${rest.length > 0 ? ` and ${rest.length} more ${rest.length === 1 ? 'name' : 'names'}` : ''}`;
  if (item.kind === 'table') return `${count(item.entries_total)} ${item.entries_total === 1 ? 'pointer' : 'pointers'}`;
  return 'no name';
}

/** @param {import('../main.js').Context} context @returns {Promise<import('../main.js').Shown>} */
export async function show({ main, link, edition, state, keep }) {
  const { b } = edition;
  const [pages, meta] = await Promise.all([dataPages(b), document_(b, 'meta.json')]);
  const counts = meta.counts.data ?? {};
  const all = Object.values(counts).reduce((sum, one) => sum + one, 0);
  const wanted = link.k ? (counts[link.k] ?? 0) : all;
  const each = pages === 0 ? 0 : Math.max(1, Math.round(wanted / pages));
  const list = new VirtualList({
    label: 'Strings and data',
    name: 'data',
    columns: 4,
    estimates: Array.from({ length: pages }, () => each),
    // An item that goes on on the next page is shown once, where it starts.
    load: async (number) => (await document_(b, `data/${number}.json`)).items.filter((item) =>
      !item.refs_from && !item.entries_from && (!link.k || item.kind === link.k)),
    open: (item) => { location.hash = write({ b, w: 'atlas', x: item.address }); },
    empty: 'Nothing of that kind is known in this build.',
    head: el('div', { class: 'line head-line', role: 'row' },
      ['Address', 'Kind', 'Text or name', 'References'].map((text, at) => el('span', { role: 'columnheader', class: `cell c${at}` }, text))),
    render: (item, row) => {
      const shown = inWords(item, 200);
      const named = item.text !== undefined ? line(item.text) : item.names?.[0] ? line(item.names[0].name) : '';
      row.append(
        el('span', { role: 'gridcell', class: 'cell c0 mono' }, el('a', { href: write({ b, w: 'atlas', x: item.address }), tabIndex: -1 }, item.address)),
        el('span', { role: 'gridcell', class: 'cell c1 quiet' }, item.kind),
        el('span', { role: 'gridcell', class: `cell c2 ${item.kind === 'string' ? 'string' : 'name'}`, title: named.length > 100 ? named : null }, shown),
        el('span', { role: 'gridcell', class: 'cell c3 number' }, item.refs_total > 0 ? count(item.refs_total) : el('span', { class: 'quiet' }, '0')),
      );
    },
  });
  put(
    main,
    el('div', { class: 'fill' },
      head('Strings and data', link.k ? `${count(wanted)} of ${count(all)} items` : `${count(all)} items`,
        el('nav', { class: 'group', 'aria-label': 'Kinds' }, KINDS.map(([kind, text]) =>
          el('a', { class: 'button', href: write({ b, w: 'strings', k: kind || undefined }), 'aria-current': (link.k ?? '') === kind ? 'true' : null }, text))),
        el('button', { type: 'button', 'data-cite': true }, 'Copy citation')),
      list.element),
  );
  list.measure();
  if (pages <= 64) {
    await list.need(0);
    setTimeout(() => list.segments.forEach((_, number) => list.need(number)), 0);
  }
  await list.restore(state?.place);
  list.element.addEventListener('scroll', late(() => keep({ place: list.place })));
  return {
    title: 'Strings and data',
    focus: list.element,
    dispose: () => list.dispose(),
    cite: () => citation(link, inSight(list).map((item) => `${item.address}  ${item.kind}  ${inWords(item)}  ${item.refs_total} references`).join('\n')),
  };
}
