/**
 * A source: its lines as they were supplied, how the file was verified, and which functions cite it.
 */

import { document_, sourcePath, text } from '../api.js';
import { LINES, citation } from '../cite.js';
import { count, el, put, size } from '../dom.js';
import { code, path } from '../escape.js';
import { functionLink, level, levelMark } from '../names.js';
import { fact, head, say } from '../shell.js';
import { bodyAt, byPath, keyOf } from '../tree.js';
import { VirtualList } from '../virtual.js';

/** Most functions that are listed beside a source. */
const MOST = 60;

const WHY = {
  ambiguous: 'Several of the supplied files fit its path equally well and differ, so none is shown.',
  mismatched: 'The supplied file that fits its path is not the one that was compiled, so it isn’t shown.',
  missing: 'No supplied file fits its path. Add the build again with its sources: elfscope add FILE --source DIR.',
};

/** @param {import('../main.js').Context} context @returns {Promise<import('../main.js').Shown>} */
export async function show({ main, link, edition, replace }) {
  const { b } = edition;
  const entry = await byPath(b, 'source', link.p, (one) => one.path);
  const file = entry ? (await document_(b, `sources/${entry.page}.json`)).sources.find((one) => same(one.path, entry.path)) : null;
  if (!file) throw Object.assign(new Error(`the debug data of this build cites no source ${path(link.p)}`), { fix: 'look for it among the sources of the build' });
  const shown = path(file.path, 100);
  const counts = level(file, edition.told.package_verified ?? []);
  const facts = [levelMark(counts, file.names), file.lines ? ` ${count(file.lines.total)} lines, ${size(file.lines.bytes)}` : null];
  const citing = el('ol', { class: 'edge-list' });
  const side = el('aside', { class: 'pane', 'aria-label': 'Functions that cite it', tabIndex: 0 }, el('h2', {}, 'Functions that cite it'), citing);
  cited(b, link.p, citing);
  if (!file.lines) {
    put(main, el('div', { class: 'fill' }, head(el('span', { class: 'path' }, shown), facts),
      el('div', { class: 'split' }, el('div', { class: 'page' }, el('p', { class: 'notice' }, WHY[file.level] ?? 'It is not published.'),
        el('dl', { class: 'facts' }, fact('Greatest line cited', count(file.last_line)))), side)));
    return { title: shown, cite: () => citation(link, `${shown}  ${counts}`) };
  }
  const total = file.lines.total;
  if (link.l && (link.l[0] < 1 || link.l[1] > total)) throw Object.assign(new Error(`there are no lines ${link.l.join('-')}`), { allowed: `1 to ${total}` });
  let selected = link.l ?? null;
  let anchor = selected?.[0] ?? null;
  const list = new VirtualList({
    label: `Source ${shown}`,
    name: 'source-text',
    columns: 2,
    estimates: Array.from({ length: Math.ceil(total / LINES) }, (_, at) => Math.min(LINES, total - at * LINES)),
    load: async (number) => {
      const first = number * LINES + 1;
      const last = Math.min(total, first + LINES - 1);
      const told = await text(b, `${sourcePath(link.p)}?lines=${first}-${last}`);
      const lines = told.split('\n');
      return Array.from({ length: last - first + 1 }, (_, at) => ({ line: first + at, text: lines[at] ?? '' }));
    },
    render: (item, row) => {
      if (selected && item.line >= selected[0] && item.line <= selected[1]) {
        row.classList.add('selected');
        row.setAttribute('aria-selected', 'true');
      }
      row.append(
        el('span', { role: 'gridcell', class: 'cell n' }, item.line),
        el('span', { role: 'gridcell', class: 'cell source' }, code(item.text) || ' '));
    },
    active: (item, event) => {
      if (!item || !event) return;
      const isMore = /** @type {KeyboardEvent} */ (event).shiftKey;
      anchor = isMore ? (anchor ?? item.line) : item.line;
      selected = [Math.min(anchor, item.line), Math.max(anchor, item.line)];
      link = { ...link, l: selected };
      replace(link);
      list.refresh();
      if (isMore) say(`Lines ${selected[0]} to ${selected[1]} selected`);
    },
  });
  put(main, el('div', { class: 'fill' },
    head(el('span', { class: 'path' }, shown), facts, el('button', { type: 'button', 'data-cite': true }, 'Copy citation')),
    el('div', { class: 'split' }, list.element, side)));
  list.measure();
  const reveal = async () => {
    selected = link.l ?? null;
    list.refresh();
    if (selected) await list.reveal(Math.floor((selected[0] - 1) / LINES), (item) => item.line === selected[0]);
  };
  await reveal();
  return {
    title: shown,
    focus: list.element,
    dispose: () => list.dispose(),
    update(next) {
      if (next.b !== link.b || next.p !== link.p) return false;
      link = next;
      anchor = link.l?.[0] ?? null;
      reveal();
      return true;
    },
    async cite() {
      const first = Math.floor(list.top) + 1;
      const [from, to] = selected ?? [first, Math.min(total, first + 29)];
      if (to - from >= LINES) throw new Error(`a citation takes at most ${LINES} lines, and ${to - from + 1} are selected`);
      const told = await text(b, `${sourcePath(link.p)}?lines=${from}-${to}`);
      const quoted = told.replace(/\n$/, '').split('\n').map((one, at) => `${String(from + at).padStart(6)}  ${code(one)}`);
      return citation({ ...link, l: [from, to] }, [`${shown}  ${counts}`, ...quoted].join('\n'));
    },
  };
}

/** @param {any} a @param {any} other */
const same = (a, other) => JSON.stringify(a) === JSON.stringify(other);

/** Lists the functions that cite a source. @param {string} b @param {string} sought @param {HTMLElement} list */
async function cited(b, sought, list) {
  try {
    const found = await byPath(b, 'source_function', sought, (one) => one[0]);
    const addresses = found?.[1] ?? [];
    if (addresses.length === 0) put(list, el('li', { class: 'quiet' }, 'none'));
    for (const address of addresses.slice(0, MOST)) {
      const entry = await bodyAt(b, address);
      if (entry) list.append(el('li', {}, functionLink(b, keyOf(entry), entry[5][0]?.[0], { most: 60 })));
    }
    if (addresses.length > MOST) list.append(el('li', { class: 'quiet' }, `and ${addresses.length === 256 ? 'many' : count(addresses.length - MOST)} more`));
  } catch (error) {
    put(list, el('li', { class: 'quiet' }, error.message));
  }
}
