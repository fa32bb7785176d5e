/**
 * What is at an address: a row of a function (then its listing is shown), or data with who refers to it.
 */

import { rowAt } from '../body.js';
import { citation } from '../cite.js';
import { count, el, put } from '../dom.js';
import { line, name, quoted } from '../escape.js';
import { place } from '../link.js';
import { addressLink, functionLink, versioned } from '../names.js';
import { fact, head } from '../shell.js';
import { bodyAt, dataNear, keyOf } from '../tree.js';
import * as listing from './listing.js';
import { inWords } from './strings.js';

/** Most references and slots that are shown. */
const MOST = 300;

/** @param {import('../main.js').Context} context @returns {Promise<import('../main.js').Shown>} */
export async function show(context) {
  const { main, link, edition, replace } = context;
  const { b } = edition;
  const entry = await bodyAt(b, link.x);
  if (entry) {
    const key = keyOf(entry);
    const offset = Number(place(link.x).offset - place(entry[0]).offset);
    const row = offset === 0 ? undefined : await rowAt(b, key, offset);
    const to = { b, w: 'listing', f: key, s: 'source', o: row ?? undefined };
    replace(to);
    return listing.show({ ...context, link: to });
  }
  const items = await dataNear(b, link.x);
  const { section, offset } = place(link.x);
  const found = items.filter((one) => {
    const at = place(one.address);
    const size = BigInt(one.size ?? 1);
    return at.section === section && at.offset <= offset && offset < at.offset + (size > 0n ? size : 1n) + (one.kind === 'string' ? 1n : 0n);
  });
  // The one that starts there, else the last that has it.
  const item = found.find((one) => one.address === link.x) ?? found[found.length - 1];
  if (!item) {
    put(main, el('div', { class: 'page' }, head(`Address 0x${link.x}`, 'Nothing is known of this place: no function has it, and no code refers to it.',
      el('button', { type: 'button', 'data-cite': true }, 'Copy citation'))));
    return { title: `0x${link.x}`, cite: () => citation(link, `0x${link.x}: nothing is known of this place`) };
  }
  const inside = place(link.x).offset - place(item.address).offset;
  const refs = item.refs ?? [];
  const entries = item.entries ?? [];
  put(
    main,
    el('div', { class: 'page' },
      head(el('span', { class: item.kind === 'string' ? 'string' : 'name' }, inWords(item, 120)), `${item.kind} at 0x${item.address}${inside > 0n ? `, 0x${inside.toString(16)} bytes before what was asked for` : ''}`,
        el('button', { type: 'button', 'data-cite': true }, 'Copy citation')),
      el('dl', { class: 'facts' },
        fact('Address', el('code', {}, `0x${item.address}`)),
        item.section === undefined ? null : fact('Section', name(item.section)),
        item.size === undefined ? null : fact('Size', `${count(item.size)} bytes`),
        item.names?.length ? fact('Names', el('span', { class: 'mono' }, item.names.map((one) => versioned(one.name, one.version, one.default)).join(', '))) : null,
        item.slots_total ? fact('Held by', item.slots.slice(0, 20).map((slot) => [addressLink(b, slot, `0x${slot}`), ' ']), item.slots_total > 20 ? `and ${count(item.slots_total - 20)} more` : '') : null),
      item.kind === 'string' ? el('pre', { class: 'whole-string', tabIndex: 0, 'aria-label': 'The whole text' }, line(item.text)) : null,
      entries.length > 0 ? el('section', {}, el('h2', {}, `Pointers ${count(item.entries_total)}`),
        el('table', { class: 'table' }, el('caption', { class: 'sr' }, 'Pointers'),
          el('thead', {}, el('tr', {}, ['Slot', 'Points to', 'Address'].map((text) => el('th', { scope: 'col' }, text)))),
          el('tbody', {}, entries.slice(0, MOST).map((slot) => el('tr', {},
            el('td', { class: 'mono' }, slot.at),
            el('td', {}, slot.text !== undefined ? el('span', { class: 'string' }, quoted(slot.text)) : slot.name !== undefined ? el('span', { class: 'name' }, versioned(slot.name, slot.version, false, 80), slot.offset ? `+0x${slot.offset.toString(16)}` : '') : el('span', { class: 'quiet' }, '–')),
            el('td', { class: 'mono' }, slot.address ? addressLink(b, slot.address) : el('span', { class: 'quiet' }, 'import')))))),
        item.entries_total > Math.min(entries.length, MOST) ? el('p', { class: 'quiet' }, `the first ${Math.min(entries.length, MOST)} of ${count(item.entries_total)}`) : null) : null,
      el('section', {}, el('h2', {}, `References ${count(item.refs_total)}`),
        refs.length === 0 ? el('p', { class: 'quiet' }, 'No row refers to it.')
          : el('table', { class: 'table' }, el('caption', { class: 'sr' }, 'References'),
            el('thead', {}, el('tr', {}, ['Row at', 'In', 'How'].map((text) => el('th', { scope: 'col' }, text)))),
            el('tbody', {}, refs.slice(0, MOST).map((ref) => el('tr', {},
              el('td', { class: 'mono' }, addressLink(b, ref.at)),
              el('td', {}, functionLink(b, ref.from, ref.name, { most: 80 })),
              el('td', {}, ref.taken ? 'makes its address' : 'reads or writes', ref.offset ? ` at +0x${ref.offset.toString(16)}` : ''))))),
        item.refs_total > Math.min(refs.length, MOST) ? el('p', { class: 'quiet' }, `the first ${Math.min(refs.length, MOST)} of ${count(item.refs_total)}`) : null),
    ),
  );
  return {
    title: inWords(item, 40),
    cite: () => citation(link, [`${item.address}  ${item.kind}  ${inWords(item)}`, ...refs.slice(0, 40).map((ref) => `  ${ref.at}  ${ref.name === undefined ? ref.from : name(ref.name)}`)].join('\n')),
  };
}
