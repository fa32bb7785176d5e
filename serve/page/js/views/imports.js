/**
 * The symbols that a build imports, each with the library it asks and its callers.
 */

import { citation } from '../cite.js';
import { count, el, put } from '../dom.js';
import { line, name } from '../escape.js';
import { write } from '../link.js';
import { importName, versioned } from '../names.js';
import { head } from '../shell.js';
import { open } from '../tree.js';
import { VirtualList } from '../virtual.js';
import { inSight } from './graph.js';

/** @param {import('../main.js').Context} context @returns {Promise<import('../main.js').Shown>} */
export async function show({ main, link, edition }) {
  const { b } = edition;
  const tree = await open(b, 'import');
  const each = tree.leaves === 0 ? 0 : Math.ceil(tree.entries / tree.leaves);
  const to = (entry) => write({ b, w: 'graph', i: importName(entry), d: 'in' });
  const list = new VirtualList({
    label: 'Imports',
    name: 'imports',
    columns: 4,
    estimates: Array.from({ length: tree.leaves }, () => each),
    load: (number) => tree.leaf(number),
    open: (entry) => { location.hash = to(entry); },
    empty: 'This build imports nothing.',
    head: el('div', { class: 'line head-line', role: 'row' },
      ['Symbol', 'Type', 'Library', 'Callers'].map((text, at) => el('span', { role: 'columnheader', class: `cell c${at}` }, text))),
    render: (entry, row) => {
      const shown = versioned(entry.name, entry.version, false, 120);
      row.append(
        el('span', { role: 'gridcell', class: 'cell c0' }, el('a', { href: to(entry), class: 'name', tabIndex: -1, title: line(entry.name) === shown ? null : line(entry.name) }, shown)),
        el('span', { role: 'gridcell', class: 'cell c1 quiet' }, entry.type, entry.weak ? ' weak' : ''),
        el('span', { role: 'gridcell', class: 'cell c2' }, entry.library === undefined ? el('span', { class: 'quiet' }, 'not said') : name(entry.library, 40)),
        el('span', { role: 'gridcell', class: 'cell c3 quiet' }, entry.callers === undefined ? 'no calls' : 'called'),
      );
    },
  });
  put(main, el('div', { class: 'fill' },
    head('Imports', `${count(tree.entries)} symbols of other files`, el('button', { type: 'button', 'data-cite': true }, 'Copy citation')), list.element));
  list.measure();
  return {
    title: 'Imports',
    focus: list.element,
    dispose: () => list.dispose(),
    cite: () => citation(link, inSight(list).map((entry) => `${versioned(entry.name, entry.version)}  ${entry.type}${entry.library === undefined ? '' : `  ${name(entry.library)}`}`).join('\n')),
  };
}
