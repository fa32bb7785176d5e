/**
 * The edges of a function beside its listing: the calls out in row order, and a few callers.
 */

import { ask, callers } from '../api.js';
import { count, el, put } from '../dom.js';
import { kind, mark } from '../classes.js';
import { write } from '../link.js';
import { functionLink, target } from '../names.js';
import { rowAt } from '../body.js';

/** Most of either that the pane shows. */
const MOST = 60;

/**
 * @param {import('../shell.js').Edition} edition
 * @param {any} first page 0 of the body
 * @param {(edge: number) => void} go shows the row that an edge leaves from
 */
export function pane(edition, first, go) {
  const { b } = edition;
  const { key, head } = first;
  const abort = new AbortController();
  const out = el('ol', { class: 'edge-list' }, el('li', { class: 'quiet' }, '…'));
  const into = el('ol', { class: 'edge-list' }, el('li', { class: 'quiet' }, '…'));
  const intoHead = el('h2', {}, 'Callers');
  const asked = ask(`${b}/callees/${key}.json`, { limit: MOST }, abort.signal);
  const element = el('aside', { class: 'pane', 'aria-label': 'Edges', tabIndex: 0 },
    el('h2', {}, el('a', { href: write({ b, w: 'graph', f: key, d: 'out' }) }, `Calls out ${count(head.edges_total)}`)), out,
    intoHead, into);
  const failed = (list) => (error) => {
    if (error.name !== 'AbortError') put(list, el('li', { class: 'quiet' }, error.message));
  };
  asked.then((answer) => {
    put(out, answer.edges.map((edge, number) => el('li', {},
      el('button', { type: 'button', class: 'plain site', title: 'Show the row it leaves from', onclick: () => go(number) }, `+0x${edge.row.toString(16)}`),
      mark(edge.class), target(b, edge),
      edge.kind === 'call' && !edge.switch ? null : el('span', { class: 'quiet kind' }, kind(edge)))),
    answer.total > answer.edges.length ? el('li', {}, el('a', { href: write({ b, w: 'graph', f: key, d: 'out' }) }, `all ${count(answer.total)}`)) : null,
    answer.total === 0 ? el('li', { class: 'quiet' }, 'none') : null);
  }).catch(failed(out));
  callers(b, key, 0).then((page) => {
    put(intoHead, el('a', { href: write({ b, w: 'graph', f: key, d: 'in' }) }, `Callers ${count(page.total)}`));
    const seen = new Map();
    for (const one of page.callers) {
      const found = seen.get(`${one.from} ${one.class}`);
      if (found) found.sites += 1;
      else if (seen.size < MOST) seen.set(`${one.from} ${one.class}`, { ...one, sites: 1 });
    }
    put(into, [...seen.values()].map((one) => el('li', {}, mark(one.class), functionLink(b, one.from, one.name, { most: 60 }),
      one.sites > 1 ? el('span', { class: 'quiet' }, ` ${one.sites} sites`) : null)),
    page.total === 0 ? el('li', { class: 'quiet' }, 'none known in this build') : null);
  }).catch(failed(into));
  return {
    element,
    dispose: () => abort.abort(),
    /** The row that an edge leaves from. @param {number} edge @returns {Promise<number | undefined>} */
    async rowOf(edge) {
      let answer = await asked;
      let from = 0;
      while (edge >= from + answer.edges.length && answer.next_cursor) {
        from += answer.edges.length;
        answer = await ask(`${b}/callees/${key}.json`, { limit: MOST, cursor: answer.next_cursor }, abort.signal);
      }
      const found = answer.edges[edge - from];
      if (!found) throw Object.assign(new Error(`there is no edge ${edge}`), { allowed: `0 to ${answer.total - 1}` });
      return (await rowAt(b, key, found.row)) ?? undefined;
    },
  };
}
