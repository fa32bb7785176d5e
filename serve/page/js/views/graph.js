/**
 * The edges of a function, or the callers of an imported symbol, as a list: each with its class, told apart by label and dash as
 * well as by colour.
 */

import { ask, body, callers, importCallers } from '../api.js';
import { shownName } from '../body.js';
import { citation } from '../cite.js';
import { CLASSES, kind, label, mark } from '../classes.js';
import { count, el, put } from '../dom.js';
import { name } from '../escape.js';
import { parts, plus, write } from '../link.js';
import { addressLink, functionLink, target, unnamed, versioned } from '../names.js';
import { head } from '../shell.js';
import { VirtualList } from '../virtual.js';
import { late } from './functions.js';

/** Edges of one answer. */
const EACH = 200;

/**
 * The edges out of a body, in segments that are asked for one after another: each answer says where the next one starts.
 * @param {string} b @param {string} key @param {number} total
 */
function calls(b, key, total) {
  /** @type {Promise<any>[]} */
  const asked = [];
  const answer = (number) => {
    asked[number] ??= (async () => {
      const before = number === 0 ? null : await answer(number - 1);
      if (before && !before.next_cursor) return { edges: [], next_cursor: null };
      return ask(`${b}/callees/${key}.json`, { limit: EACH, cursor: before?.next_cursor });
    })();
    return asked[number];
  };
  return {
    estimates: Array.from({ length: Math.ceil(total / EACH) }, (_, at) => Math.min(EACH, total - at * EACH)),
    load: async (number) => (await answer(number)).edges.map((edge, at) => ({ ...edge, number: number * EACH + at })),
  };
}

/** @param {import('../main.js').Context} context @returns {Promise<import('../main.js').Shown>} */
export async function show({ main, link, edition, state, keep }) {
  const { b } = edition;
  const isOut = link.f !== undefined && link.d !== 'in';
  const first = link.f === undefined ? null : await body(b, link.f, 0);
  let title;
  let total;
  let estimates;
  let load;
  if (isOut) {
    total = first.head.edges_total;
    ({ estimates, load } = calls(b, link.f, total));
  } else {
    const page = (number) => (link.f === undefined ? importCallers(b, link.i, number) : callers(b, link.f, number));
    const top = await page(0);
    total = top.total;
    const each = top.callers.length;
    estimates = Array.from({ length: top.pages }, (_, at) => (at === 0 ? each : Math.min(each, Math.max(1, total - at * each))));
    load = async (number) => (await page(number)).callers;
    if (top.of.import) title = versioned(top.of.import.name, top.of.import.version, false, 80);
  }
  title ??= first ? (shownName(first.head) === undefined ? unnamed(link.f) : name(shownName(first.head), 80)) : name(link.i, 80);
  const start = first ? parts(link.f).address : '';
  const site = (edge) => (isOut ? plus(start, edge.row) : edge.at);

  const render = (edge, row) => {
    const at = addressLink(b, site(edge), site(edge));
    const where = isOut ? target(b, edge) : functionLink(b, edge.from, edge.name, { most: 90 });
    for (const a of [at, ...(where instanceof HTMLAnchorElement ? [where] : where.querySelectorAll('a'))]) a.tabIndex = -1;
    row.append(
      el('span', { role: 'gridcell', class: 'cell c0 mono' }, at),
      el('span', { role: 'gridcell', class: 'cell c1' }, mark(edge.class)),
      el('span', { role: 'gridcell', class: 'cell c2 quiet' }, kind(edge)),
      el('span', { role: 'gridcell', class: 'cell c3' }, where, edge.offset && !isOut ? el('span', { class: 'quiet' }, ` to +0x${edge.offset.toString(16)}`) : null),
    );
  };
  const list = new VirtualList({
    label: isOut ? `Calls out of ${title}` : `Callers of ${title}`,
    name: 'edges',
    columns: 4,
    estimates: link.c ? estimates.map((one) => Math.min(one, 20)) : estimates,
    load: async (number) => (await load(number)).filter((edge) => !link.c || edge.class === link.c),
    render,
    open: (_, event) => {
      const rows = [...list.rows.values()].find((row) => row.classList.contains('active'));
      const a = rows?.querySelector(event instanceof KeyboardEvent && !isOut ? '.c0 a' : '.c3 a') ?? rows?.querySelector('.c0 a');
      if (a instanceof HTMLAnchorElement) location.hash = a.hash;
    },
    empty: link.c ? 'No edge of this class.' : isOut ? 'Nothing leaves from this function.' : 'No caller is known in this build. Calls from other files don’t show here.',
    head: el('div', { class: 'line head-line', role: 'row' },
      ['Site', 'Class', 'How', isOut ? 'Leads to' : 'From'].map((text, at) => el('span', { role: 'columnheader', class: `cell c${at}` }, text))),
  });
  const chips = el('nav', { class: 'chips', 'aria-label': 'Classes' },
    el('a', { href: write({ ...link, c: undefined }), class: 'chip', 'aria-current': link.c ? null : 'true' }, 'all classes'),
    [...CLASSES.keys()].map((one) => el('a', { href: write({ ...link, c: one }), class: 'chip', 'aria-current': link.c === one ? 'true' : null, title: CLASSES.get(one)[2] }, mark(one))));
  const tab = (d, text) => el('a', { class: 'button', href: write({ b, w: 'graph', f: link.f, d }), 'aria-current': (link.d ?? 'out') === d ? 'true' : null }, text);
  put(
    main,
    el('div', { class: 'fill' },
      head(isOut ? ['Calls out of ', el('span', { class: 'name' }, title)] : ['Callers of ', el('span', { class: 'name' }, title)],
        `${count(total)} ${total === 1 ? 'edge' : 'edges'}${link.f === undefined ? ' to an imported symbol' : ''}`,
        first ? [el('div', { class: 'group', role: 'group', 'aria-label': 'Direction' }, tab('out', 'Calls out'), tab('in', 'Callers')),
          el('a', { class: 'button', href: write({ b, w: 'listing', f: link.f, s: 'source' }) }, 'Listing')] : null,
        el('button', { type: 'button', 'data-cite': true }, 'Copy citation')),
      chips,
      list.element),
  );
  list.measure();
  if (link.e !== undefined && isOut) await list.reveal(Math.floor(link.e / EACH), (edge) => edge.number === link.e);
  else await list.restore(state?.place);
  list.element.addEventListener('scroll', late(() => keep({ place: list.place })));
  const inWords = (edge) => {
    const to = edge.target;
    const where = isOut ? (to ? (to.names?.[0] === undefined ? `0x${to.address}` : versioned(to.names[0], to.version)) : 'not known statically')
      : edge.name === undefined ? unnamed(edge.from) : name(edge.name);
    return `${site(edge)}  ${label(edge.class)} ${kind(edge)}  ${where}`;
  };
  return {
    title: `${isOut ? 'Calls out of' : 'Callers of'} ${title}`,
    focus: list.element,
    dispose: () => list.dispose(),
    cite: () => citation(link, inSight(list).map(inWords).join('\n')),
  };
}

/** The items in sight, at most 40. @template T @param {VirtualList<T>} list @returns {T[]} */
export function inSight(list) {
  const first = Math.max(0, Math.floor(list.top));
  const out = [];
  for (let at = first; at < Math.min(list.total, first + Math.min(40, list.view / list.height)); at += 1) {
    const item = list.item(at);
    if (item !== null) out.push(item);
  }
  return out;
}
