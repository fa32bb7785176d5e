/**
 * The listing of a function: its rows with the source between them, page by page. Rows are selected by mouse or keys; the URL says
 * which.
 */

import { body } from '../api.js';
import { lines, pageOfRow, shownName } from '../body.js';
import { citation, rowsText } from '../cite.js';
import { count, el, put } from '../dom.js';
import { code, line, name, path } from '../escape.js';
import { compare, parts, place, plus, write } from '../link.js';
import { addressLink, functionLink, level, levelMark, referent, sourceLink, unnamed, versioned } from '../names.js';
import { get, set } from '../settings.js';
import { head as viewHead, fact, say } from '../shell.js';
import * as sources from '../sources.js';
import { VirtualList } from '../virtual.js';
import { pane } from './edgepane.js';

const SHOWN = ['source', 'asm', 'outline'];
const WORDS = { source: 'Rows with source', asm: 'Rows', outline: 'Outline' };

/** What stands above the listing. @param {string} b @param {any} first @param {import('../shell.js').Edition} edition */
function about(b, first, edition) {
  const { head } = first;
  const { size } = parts(first.key);
  const kinds = { function: 'function', ifunc: 'resolver of an indirect function', stub: 'linker stub', gap: 'gap: bytes that nothing says to be a function' };
  const names = head.names.slice(0, 12).map((one) => versioned(one.name, one.version, one.default, 80));
  const demangled = head.names.find((one) => one.demangled)?.demangled;
  return el(
    'details',
    { class: 'body-facts' },
    el('summary', {},
      head.signature ? el('code', { class: 'signature' }, line(head.signature)) : demangled ? el('code', { class: 'signature' }, line(demangled)) : el('span', {}, kinds[head.kind] ?? head.kind),
      el('span', { class: 'quiet' }, ` ${count(size)} bytes, ${count(head.rows_total)} rows`)),
    el('dl', { class: 'facts' },
      fact('Is', kinds[head.kind] ?? head.kind, head.section ? ` in ${name(head.section)}` : '', `; bounds from ${head.bounds}`),
      fact('Key', el('code', {}, first.key)),
      fact('Names', el('span', { class: 'mono' }, names.join(', ')), head.names_total > names.length ? ` and ${count(head.names_total - names.length)} more` : ''),
      demangled ? fact('Demangled', el('code', {}, line(demangled))) : null,
      head.declared ? fact('Declared', sourceLink(b, head.declared.file, head.declared.line)) : null,
      head.parts?.length ? fact('Other parts', head.parts.map((key) => [functionLink(b, key, undefined), ' '])) : null,
      head.runs_into?.length ? fact('Claimed size runs into', head.runs_into.map((key) => [functionLink(b, key, undefined), ' '])) : null,
      head.digests ? fact('Digests', el('code', {}, head.digests.body), ` body, ${head.digests.unknown} fields unknown; `, el('code', {}, head.digests.shape), ' shape') : null,
      fact('Provenance', line(edition.told.provenance))),
  );
}

/** What code was inlined into, in words. @param {any[]} stack @param {string} b */
function inlined(b, stack) {
  if (stack.length < 2) return null;
  const out = el('span', { class: 'stack' });
  stack.slice(0, 4).forEach((at, depth) => {
    const named = at.function === undefined || at.function === null ? 'unnamed' : name(at.function, 40);
    if (depth === 0) out.append(el('span', {}, `inlined ${named}`));
    else out.append(el('span', { class: 'quiet' }, ` in ${named}`));
    if (depth > 0 && depth < stack.length && stack[depth].file) out.append(el('span', { class: 'quiet' }, `, called at ${path(stack[depth].file.path, 30)}:${stack[depth].line ?? '?'}`));
  });
  if (stack.length > 4) out.append(el('span', { class: 'quiet' }, ` and ${stack.length - 4} more`));
  return out;
}

/** @param {import('../main.js').Context} context @returns {Promise<import('../main.js').Shown>} */
export async function show(context) {
  const { main, edition, replace, keep } = context;
  let { link } = context;
  const { b } = edition;
  const key = link.f;
  const { address } = parts(key);
  const first = await body(b, key, 0);
  const total = first.head.rows_total;
  if (link.r && link.r[1] >= total) throw Object.assign(new Error(`there is no row ${link.r[1]}`), { allowed: `rows 0 to ${total - 1}` });
  if (link.o !== undefined && link.o >= total) throw Object.assign(new Error(`there is no row ${link.o}`), { allowed: `rows 0 to ${total - 1}` });
  const how = link.s ?? 'asm';
  const title = shownName(first.head) === undefined ? unnamed(key) : name(shownName(first.head), 80);
  const verified = edition.told.package_verified ?? [];
  let selected = link.r ?? null;
  let anchor = selected ? selected[0] : null;

  const cells = {
    row(item, row) {
      const [offset, bytes, mnemonic, operands, notes] = item.row;
      row.classList.add('code');
      if (item.edge) row.classList.add('has-edge');
      if (selected && item.n >= selected[0] && item.n <= selected[1]) {
        row.classList.add('selected');
        row.setAttribute('aria-selected', 'true');
      }
      const jump = item.edge || notes?.to ? null : inside(operands);
      const ref = jump ? el('span', { class: 'referent jump' }, addressLink(b, jump, operands), compare(jump, plus(address, offset)) > 0 ? ' ↓' : ' ↑') : referent(b, notes?.to, item.edge);
      ref?.querySelectorAll('a').forEach((a) => { a.tabIndex = -1; });
      row.append(
        el('span', { role: 'gridcell', class: 'cell n' }, item.n),
        el('span', { role: 'gridcell', class: 'cell at' }, plus(address, offset)),
        el('span', { role: 'gridcell', class: 'cell bytes' }, bytes.match(/../g).join(' ')),
        el('span', { role: 'gridcell', class: 'cell op' }, el('span', { class: 'mnemonic' }, mnemonic), ' ', jump ? ref : [line(operands), ref ? [' ', ref] : null],
          notes?.relocations?.map((one) => el('span', { class: 'reloc' }, ` reloc ${one.type}${one.symbol === undefined ? '' : ` ${name(one.symbol, 60)}`}${one.addend === '0' ? '' : ` ${one.addend}`}`))),
      );
    },
    place(item, row) {
      row.classList.add('place');
      const told = item.file ? level(item.file, verified) : null;
      const link_ = item.file ? sourceLink(b, item.file.path, item.line ?? undefined, 70) : null;
      if (link_) link_.tabIndex = -1;
      row.append(el('span', { role: 'gridcell', class: 'cell' },
        link_ ?? 'no file',
        item.line ? null : el('span', { class: 'quiet' }, ' made by the compiler, no line'),
        told ? [' ', levelMark(told, item.file.names)] : null,
        ' ', inlined(b, item.stack)));
    },
    text(item, row) {
      row.classList.add('text');
      const found = sources.lineOf(item.file.sha256, item.line);
      row.append(el('span', { role: 'gridcell', class: 'cell' },
        el('span', { class: 'line-number' }, item.line), ' ',
        found.why ? el('span', { class: 'quiet' }, found.why) : el('span', { class: 'source' }, found.text === undefined ? '…' : code(found.text) || ' ')));
    },
    silent(item, row) {
      row.classList.add('place');
      row.append(el('span', { role: 'gridcell', class: 'cell quiet' }, 'no claim about the source'));
    },
    run(item, row) {
      row.classList.add('place', 'run');
      const found = item.file?.sha256 && item.line ? sources.lineOf(item.file.sha256, item.line) : {};
      const link_ = item.file ? sourceLink(b, item.file.path, item.line ?? undefined, 50) : null;
      if (link_) link_.tabIndex = -1;
      row.append(el('span', { role: 'gridcell', class: 'cell' },
        el('span', { class: 'run-rows' }, item.rows[0] === item.rows[1] ? `row ${item.rows[0]}` : `rows ${item.rows[0]}–${item.rows[1]}`), ' ',
        link_ ?? el('span', { class: 'quiet' }, 'no claim about the source'), ' ',
        found.text ? el('span', { class: 'source' }, code(found.text).trim()) : null));
    },
  };

  /** Where a jump inside the body goes, which has no note. @param {string} operands @returns {string | null} */
  function inside(operands) {
    const found = /^0x([0-9a-f]+)$/.exec(operands);
    if (!found) return null;
    const offset = BigInt(`0x${found[1]}`) - place(address).offset;
    return offset < 0n || offset >= BigInt(parts(key).size) ? null : plus(address, offset);
  }

  const each = how === 'asm' ? 1.5 : how === 'source' ? 1.6 : 0.4;
  const estimates = Array.from({ length: first.pages }, () => Math.max(1, Math.round((total / first.pages) * each)));
  if (total === 0) estimates.fill(0);
  const list = new VirtualList({
    label: `Listing of ${title}`,
    name: `listing${get('bytes', 'off') === 'on' ? ' with-bytes' : ''}`,
    columns: 4,
    estimates,
    load: async (number) => {
      const page = await body(b, key, number);
      if (how !== 'asm') {
        const wanted = new Set((page.files ?? []).map((file) => file.sha256).filter(Boolean));
        Promise.all([...wanted].map((sha256) => sources.need(b, sha256))).then(() => list.refresh());
      }
      return lines(page, how);
    },
    render: (item, row) => cells[item.is](item, row),
    stops: (item) => item.is === 'row' || item.is === 'run',
    active: (item, event) => moved(item, event),
    open: (item) => follow(item),
    empty: 'This body has no rows.',
  });

  /** The active row is another one. @param {any} item @param {any} event */
  function moved(item, event) {
    if (!item || item.n === undefined || event === null) return;
    const n = item.n;
    if (event.shiftKey) {
      anchor ??= link.o ?? n;
      selected = [Math.min(anchor, n), Math.max(anchor, n)];
    } else {
      anchor = n;
      selected = null;
    }
    link = { ...link, r: selected ?? undefined, o: n, e: undefined };
    replace(link);
    list.refresh();
    if (selected) say(`Rows ${selected[0]} to ${selected[1]} selected`);
  }

  /** Goes where a row leads. @param {any} item */
  function follow(item) {
    if (item.is === 'run') {
      location.hash = write({ b, w: 'listing', f: key, s: 'source', r: item.rows, o: item.rows[0] });
      return;
    }
    const found = [...list.rows.values()].find((row) => row.classList.contains('active'))?.querySelector('.referent a');
    if (found instanceof HTMLAnchorElement) location.hash = found.hash;
    else say('This row leads nowhere else');
  }

  /** Shows the rows that a link names. @param {import('../link.js').Link} to */
  async function reveal(to) {
    let row = to.o ?? to.r?.[0];
    if (to.e !== undefined) row = (await side.rowOf(to.e)) ?? row;
    selected = to.r ?? null;
    anchor = selected ? selected[0] : (row ?? null);
    list.refresh();
    if (row === undefined) return;
    const page = await pageOfRow(b, key, first, row);
    if (!page) return;
    const found = await list.reveal(page.page, (item) => item.n === row && item.is === 'row');
    if (!found) await list.reveal(page.page, (item) => item.is === 'run' && row >= item.rows[0] && row <= item.rows[1]);
  }

  const bytes = el('button', { type: 'button', 'aria-pressed': get('bytes', 'off') === 'on' ? 'true' : 'false', onclick: () => toggleBytes() }, 'Bytes');
  function toggleBytes() {
    const on = get('bytes', 'off') !== 'on';
    set('bytes', on ? 'on' : 'off');
    bytes.setAttribute('aria-pressed', on ? 'true' : 'false');
    list.element.classList.toggle('with-bytes', on);
  }
  const to = (s) => ({ ...link, s: s === 'asm' ? undefined : s });
  const modes = el('div', { class: 'group', role: 'group', 'aria-label': 'What is shown' }, SHOWN.map((s) =>
    el('a', { class: 'button', href: write(to(s)), 'aria-current': s === how ? 'true' : null, onclick: (event) => { event.currentTarget.setAttribute('href', write(to(s))); } }, WORDS[s])));
  const side = pane(edition, first, (edge) => {
    location.hash = write({ ...link, r: undefined, o: undefined, e: edge });
  });
  put(
    main,
    el('div', { class: 'fill listing-view' },
      viewHead(title, about(b, first, edition), modes, bytes,
        el('a', { class: 'button', href: write({ b, w: 'graph', f: key, d: 'out' }) }, `Calls out ${count(first.head.edges_total)}`),
        el('a', { class: 'button', href: write({ b, w: 'graph', f: key, d: 'in' }) }, 'Callers'),
        el('a', { class: 'button', href: write({ b, w: 'diff', f: key }) }, 'Compare'),
        el('button', { type: 'button', 'data-cite': true, title: 'The pinned link and the selected rows (c)' }, 'Copy citation')),
      el('div', { class: 'split' }, list.element, side.element)),
  );
  list.measure();
  const { state } = context;
  if (link.o !== undefined || link.r || link.e !== undefined) await reveal(link);
  else await list.restore(state?.place);
  let timer = 0;
  list.element.addEventListener('scroll', () => {
    clearTimeout(timer);
    timer = setTimeout(() => keep({ place: list.place }), 250);
  });
  return {
    title,
    focus: list.element,
    dispose: () => {
      clearTimeout(timer);
      list.dispose();
      side.dispose();
    },
    update(next) {
      const same = ['b', 'w', 'f', 's'].every((member) => next[member] === link[member]);
      if (!same) return false;
      link = next;
      reveal(link);
      return true;
    },
    async cite() {
      const rows = selected ?? (link.o === undefined ? seen() : [link.o, link.o]);
      return citation({ ...link, e: undefined, r: rows }, await rowsText(b, key, rows));
    },
    key(keys) {
      if (keys === 's') location.hash = write(to(SHOWN[(SHOWN.indexOf(how) + 1) % SHOWN.length]));
      else if (keys === 'b') toggleBytes();
      else if (keys === 'o' || keys === 'i') location.hash = write({ b, w: 'graph', f: key, d: keys === 'o' ? 'out' : 'in' });
      else if (keys === 'Escape' && (selected || link.o !== undefined)) {
        selected = null;
        anchor = null;
        link = { ...link, r: undefined, o: undefined, e: undefined };
        list.at = { segment: 0, index: -1 };
        replace(link);
        list.refresh();
      } else return false;
      return true;
    },
  };

  /** The rows in sight. @returns {[number, number]} */
  function seen() {
    const rows = [];
    const from = Math.floor(list.top);
    for (let at = from; at < from + list.view / list.height; at += 1) {
      const item = at < list.total ? list.item(at) : null;
      if (item?.is === 'row') rows.push(item.n);
    }
    return rows.length > 0 ? [rows[0], rows[rows.length - 1]] : [0, Math.min(total - 1, 9)];
  }
}
