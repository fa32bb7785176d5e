/**
 * The sources that the debug data of a build cites, each with how it was verified.
 */

import { document_ } from '../api.js';
import { citation } from '../cite.js';
import { count, el, put } from '../dom.js';
import { path, raw } from '../escape.js';
import { write } from '../link.js';
import { level, levelMark, sourceLink } from '../names.js';
import { head } from '../shell.js';
import { open, packSize } from '../tree.js';
import { VirtualList } from '../virtual.js';
import { late } from './functions.js';
import { inSight } from './graph.js';

const LEVELS = ['md5-verified', 'package-verified', 'path-matched', 'ambiguous', 'mismatched', 'missing'];

/** @param {import('../main.js').Context} context @returns {Promise<import('../main.js').Shown>} */
export async function show({ main, link, edition, state, keep }) {
  const { b } = edition;
  const verified = edition.told.package_verified ?? [];
  const [pages, tree, meta] = await Promise.all([packSize(b, 'sources.jsonl.gz'), open(b, 'source'), document_(b, 'meta.json')]);
  const each = pages === 0 ? 0 : Math.max(1, Math.round(tree.entries / pages));
  const list = new VirtualList({
    label: 'Sources',
    name: 'sources',
    columns: 3,
    estimates: Array.from({ length: pages }, () => each),
    load: async (number) => (await document_(b, `sources/${number}.json`)).sources.filter((file) => !link.k || level(file, verified) === link.k),
    open: (file) => { location.hash = write({ b, w: 'source', p: raw(file.path) }); },
    empty: link.k ? 'No source of this level.' : 'The debug data cites no source, or there is none.',
    head: el('div', { class: 'line head-line', role: 'row' },
      ['Path', 'Lines', 'Verified'].map((text, at) => el('span', { role: 'columnheader', class: `cell c${at}` }, text))),
    render: (file, row) => {
      const a = sourceLink(b, file.path, undefined, 120);
      a.tabIndex = -1;
      row.append(
        el('span', { role: 'gridcell', class: 'cell c0' }, a),
        el('span', { role: 'gridcell', class: 'cell c1 number' }, file.lines ? count(file.lines.total) : el('span', { class: 'quiet' }, '–')),
        el('span', { role: 'gridcell', class: 'cell c2' }, levelMark(level(file, verified), file.names)),
      );
    },
  });
  const told = meta.counts.sources ?? {};
  put(
    main,
    el('div', { class: 'fill' },
      head('Sources', `${count(tree.entries)} cited by the debug data${Object.keys(told).length > 0 ? `: ${Object.entries(told).map(([key, number]) => `${count(number)} ${key}`).join(', ')}` : ''}`,
        el('button', { type: 'button', 'data-cite': true }, 'Copy citation')),
      el('nav', { class: 'chips', 'aria-label': 'Levels' },
        el('a', { href: write({ b, w: 'source' }), class: 'chip', 'aria-current': link.k ? null : 'true' }, 'all levels'),
        LEVELS.map((one) => el('a', { href: write({ b, w: 'source', k: one }), class: 'chip', 'aria-current': link.k === one ? 'true' : null }, one))),
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
    title: 'Sources',
    focus: list.element,
    dispose: () => list.dispose(),
    cite: () => citation(link, inSight(list).map((file) => `${path(file.path)}  ${level(file, verified)}${file.names ? `, names ${file.names.join('/')}` : ''}`).join('\n')),
  };
}
