/**
 * What differs: between two builds by name, or between two functions row by row.
 */

import { ask, body, catalogue, current, named, walk } from '../api.js';
import { citation } from '../cite.js';
import { count, el, put, size } from '../dom.js';
import { line, name, raw } from '../escape.js';
import { parts, plus, write } from '../link.js';
import { addressLink, functionLink, referent, unnamed, versioned } from '../names.js';
import { fact, head, say } from '../shell.js';
import { shownName } from '../body.js';

/** Builds that can be chosen; of more, the id is typed. */
const MOST = 200;

/** Splits `<edition>:<key>`. @param {string} text @returns {[string, string | undefined]} */
function split(text) {
  const cut = text.indexOf(':');
  return cut < 0 ? [text, undefined] : [text.slice(0, cut), text.slice(cut + 1)];
}

/** @param {import('../main.js').Context} context @returns {Promise<import('../main.js').Shown>} */
export async function show(context) {
  const { link, main } = context;
  const [other, otherKey] = link.a ? split(link.a) : [undefined, undefined];
  const form = await chooser(context, other);
  if (!link.b || !other) {
    put(main, el('div', { class: 'page' }, head('Compare', 'Two builds by their names, or two functions row by row.'), form));
    return { title: 'Compare' };
  }
  const [build, edition] = other.split('/');
  const told = (await current(build)).editions.find((one) => one.edition === edition);
  const names = [name(context.edition.told.name, 40), told ? name(told.name, 40) : build.slice(0, 12)];
  return link.f && otherKey ? functions(context, form, names, other, otherKey) : builds(context, form, names, other);
}

/** The form that chooses what is compared. @param {import('../main.js').Context} context @param {string | undefined} other */
async function chooser({ link, edition, go }, other) {
  const options = [];
  for await (const build of walk(await catalogue())) {
    options.push(build);
    if (options.length === MOST) break;
  }
  const pin = (build) => `${build.build_id}/${build.edition}`;
  const choice = (id, text, chosen) => {
    const select = el('select', { id }, options.map((build) => el('option', { value: pin(build) }, `${name(build.name, 40)} · ${build.machine} · ${build.build_id.slice(0, 12)}`)));
    if (chosen && !options.some((build) => pin(build) === chosen)) select.append(el('option', { value: chosen }, chosen.slice(0, 24)));
    /** @type {HTMLSelectElement} */ (select).value = chosen ?? pin(options[0]);
    return [el('label', { for: id }, text), select];
  };
  let fn = '';
  if (link.f && edition) {
    const first = await body(edition.b, link.f, 0);
    fn = shownName(first.head) === undefined ? link.f : raw(shownName(first.head));
  }
  const problem = el('p', { class: 'error', role: 'alert' });
  const field = (id, text, value) => [el('label', { for: id }, text), el('input', { id, type: 'text', value, placeholder: 'none: compare the builds', autocomplete: 'off', spellcheck: 'false' })];
  const first = edition?.b ?? (options[0] ? pin(options[0]) : undefined);
  const likely = options.find((build) => pin(build) !== first && edition && raw(build.name) === raw(edition.told.name)) ?? options.find((build) => pin(build) !== first);
  const form = el('form', {
    class: 'compare',
    onsubmit: async (event) => {
      event.preventDefault();
      const value = (id) => /** @type {HTMLInputElement} */ (form.querySelector(`#${id}`)).value;
      problem.textContent = '';
      const [a, b] = [value('diff-a'), value('diff-b')];
      const [fa, fb] = [value('diff-fa').trim(), value('diff-fb').trim()];
      if (fa === '' && fb === '') {
        go({ b: a, w: 'diff', a: b });
        return;
      }
      try {
        const [one, two] = await Promise.all([named(a, fa || fb), named(b, fb || fa)]);
        go({ b: a, w: 'diff', a: `${b}:${two.key}`, f: one.key });
      } catch (error) {
        problem.textContent = `${error.message}.`;
      }
    },
  },
  el('div', { class: 'field' }, choice('diff-a', 'From', first)),
  el('div', { class: 'field' }, field('diff-fa', 'Function', fn)),
  el('div', { class: 'field' }, choice('diff-b', 'To', other ?? (likely ? pin(likely) : first))),
  el('div', { class: 'field' }, field('diff-fb', 'Function', fn)),
  el('button', { type: 'submit' }, 'Compare'), problem);
  return form;
}

const CHANGES = { added: ['+', 'added'], removed: ['−', 'removed'], changed: ['~', 'changed'], moved: ['→', 'moved'] };

/** How something differs: sign and word. @param {string} change */
const sign = (change) => el('span', { class: `change change-${change}` }, el('span', { 'aria-hidden': 'true', class: 'sign' }, CHANGES[change]?.[0] ?? '?'), ` ${CHANGES[change]?.[1] ?? change}`);

/** @param {import('../main.js').Context} context @param {HTMLElement} form @param {string[]} names @param {string} other */
async function builds({ link, main, signal, edition }, form, names, other) {
  const { b } = edition;
  const body_ = el('tbody');
  const said = el('p', { class: 'quiet', role: 'status' });
  const more = el('button', { type: 'button', onclick: () => next() }, 'Show more differences');
  const summary = el('div');
  const lines = [];
  const sums = {};
  let cursor = null;
  const row = (change) => {
    const shown = versioned(change.name, change.version, false, 100);
    const whole = line(change.name);
    const at = (pin, address) => (address ? addressLink(pin, address) : el('span', { class: 'quiet' }, '–'));
    const both = change.kind === 'function' && change.a && change.b;
    lines.push(`${change.change}  ${change.kind}  ${shown}`);
    const rows = both ? el('button', { type: 'button', class: 'plain', onclick: () => compare(change) }, 'rows') : null;
    const alike = (change.same_code ?? []).slice(0, 3).map((same) => sameCode(change.change === 'removed' || change.change === 'moved' ? other : b, same));
    return el('tr', {},
      el('td', { 'data-label': 'Change' }, sign(change.change)),
      el('td', { class: 'quiet kind', 'data-label': 'Kind' }, change.kind),
      el('td', { class: 'found', 'data-label': 'Name' }, el('span', { class: 'name', title: whole === shown ? null : whole }, shown), alike.length > 0 ? el('span', { class: 'quiet' }, ' equal code: ', alike) : null, rows ? [' ', rows] : null),
      el('td', { class: 'mono', 'data-label': names[0] }, at(b, change.a)),
      el('td', { class: 'mono', 'data-label': names[1] }, at(other, change.b)));
  };
  const compare = async (change) => {
    try {
      const [one, two] = await Promise.all([named(b, `0x${change.a}`), named(other, `0x${change.b}`)]);
      location.hash = write({ b, w: 'diff', a: `${other}:${two.key}`, f: one.key });
    } catch (error) {
      say(error.message);
    }
  };
  const next = async () => {
    more.disabled = true;
    const answer = await ask('diff', { a: b, b: other, cursor }, signal);
    if (answer.summary) put(summary, told(answer.summary, names));
    for (const [key, number] of Object.entries(answer.counts)) sums[key] = (sums[key] ?? 0) + number;
    body_.append(...answer.changes.map(row));
    cursor = answer.next_cursor;
    more.hidden = !cursor;
    more.disabled = false;
    const parts_ = [['added', 'added'], ['removed', 'removed'], ['changed', 'changed'], ['equal', 'equal'], ['same_shape', 'of the same shape'], ['unknown', 'not comparable']];
    said.textContent = `${parts_.filter(([key]) => sums[key] > 0).map(([key, text]) => `${count(sums[key])} ${text}`).join(', ') || 'No names'}${cursor ? ', so far' : ''}.`;
  };
  put(main, el('div', { class: 'page' }, head(['Compare ', el('span', { class: 'name' }, names[0]), ' with ', el('span', { class: 'name' }, names[1])], 'functions, data and imports by name',
    el('a', { class: 'button', href: write({ b: other, w: 'diff', a: b }) }, 'Swap'), el('button', { type: 'button', 'data-cite': true }, 'Copy citation')),
  el('details', {}, el('summary', {}, 'Compare something else'), form), summary, said,
  el('table', { class: 'table cards' }, el('caption', { class: 'sr' }, 'Differences'),
    el('thead', {}, el('tr', {}, ['Change', 'Kind', 'Name', `In ${names[0]}`, `In ${names[1]}`].map((text) => el('th', { scope: 'col' }, text)))), body_), more));
  await next();
  if (body_.children.length === 0 && !cursor) said.textContent = `No name differs. ${said.textContent}`;
  return { title: `${names[0]} and ${names[1]}`, cite: () => citation(link, [said.textContent, ...lines.slice(0, 60)].join('\n')) };
}

/** @param {string} b @param {any} same */
const sameCode = (b, same) => [functionLink(b, same.key, same.name, { most: 40 }), ' '];

/** What the files are, and how that differs. @param {any} summary @param {string[]} names */
function told({ a, b, same_file: isSame, needed_added: added, needed_removed: removed, sections, sections_cut: isCut }, names) {
  const rows = [
    ['File', (one) => `${line(one.file.name)}, ${size(one.file.size)}`],
    ['SHA-256', (one) => el('code', {}, one.file.sha256.slice(0, 16), '…')],
    ['Machine', (one) => one.machine],
    ['Functions', (one) => count(one.functions)],
    ['Rows', (one) => count(one.rows)],
    ['Strings', (one) => count(one.strings)],
  ];
  const place = (at) => (at ? `0x${at[0]}, ${size(Number(BigInt(`0x${at[1]}`)))}` : '–');
  return [
    el('p', {}, isSame ? el('b', {}, 'The same file, byte for byte.') : 'Two files:'),
    el('table', { class: 'table summary-diff' }, el('caption', { class: 'sr' }, 'The files'),
      el('thead', {}, el('tr', {}, el('td'), names.map((text) => el('th', { scope: 'col' }, text)))),
      el('tbody', {}, rows.map(([key, of]) => el('tr', {}, el('th', { scope: 'row' }, key), el('td', {}, of(a)), el('td', {}, of(b)))))),
    removed.length > 0 ? el('p', {}, 'Needed by the first alone: ', el('span', { class: 'mono' }, removed.map((one) => line(one)).join(', '))) : null,
    added.length > 0 ? el('p', {}, 'Needed by the second alone: ', el('span', { class: 'mono' }, added.map((one) => line(one)).join(', '))) : null,
    sections.length > 0 ? el('details', {}, el('summary', {}, `${count(sections.length)}${isCut ? ' or more' : ''} sections differ in address or size`),
      el('table', { class: 'table' }, el('caption', { class: 'sr' }, 'Sections that differ'),
        el('thead', {}, el('tr', {}, ['Section', ...names].map((text) => el('th', { scope: 'col' }, text)))),
        el('tbody', {}, sections.map((one) => el('tr', {}, el('th', { scope: 'row', class: 'mono' }, name(one.name, 60)), el('td', { class: 'mono' }, place(one.a)), el('td', { class: 'mono' }, place(one.b))))))) : null,
  ];
}

const SIDES = { equal: [' ', 'equal'], changed: ['~', 'changed'], only_a: ['−', 'only in the first'], only_b: ['+', 'only in the second'] };
const VERDICTS = {
  equal: 'The same code: equal digests, and every reference is known.',
  same_shape: 'The same shape: the bytes differ only in fields that depend on where things stand, and what those refer to differs or isn’t known.',
  different: 'Different code.',
  unknown: 'Nothing is said: a body has no digests.',
};

/** @param {import('../main.js').Context} context @param {HTMLElement} form @param {string[]} names @param {string} other @param {string} otherKey */
async function functions({ link, main, signal, edition }, form, names, other, otherKey) {
  const { b } = edition;
  const body_ = el('tbody');
  const more = el('button', { type: 'button', onclick: () => next() }, 'Show more rows');
  const said = el('p', { class: 'quiet', role: 'status' });
  const about = el('dl', { class: 'facts' });
  const lines = [];
  let cursor = null;
  const cell = (pin, key, side) => {
    if (!side) return [el('td', { class: 'none' }), el('td', { class: 'none code-cell' })];
    const [number, [offset, , mnemonic, operands, notes]] = side;
    return [el('td', { class: 'mono quiet at' }, el('a', { href: write({ b: pin, w: 'listing', f: key, s: 'source', o: number }), title: `row ${number}` }, plus(parts(key).address, offset))),
      el('td', { class: 'mono code-cell' }, el('span', { class: 'mnemonic' }, mnemonic), ` ${line(operands)} `, referent(pin, notes?.to))];
  };
  const next = async () => {
    more.disabled = true;
    const answer = await ask('diff', { a: `${b}:${link.f}`, b: `${other}:${otherKey}`, cursor }, signal);
    if (cursor === null) {
      const of = (one) => (one.name === undefined ? unnamed(one.key) : name(one.name, 80));
      put(about, fact('Verdict', el('b', {}, VERDICTS[answer.verdict] ?? answer.verdict)),
        fact('From', functionLink(b, link.f, answer.function_a.name), ` ${count(answer.function_a.rows)} rows in ${names[0]}`),
        fact('To', functionLink(other, otherKey, answer.function_b.name), ` ${count(answer.function_b.rows)} rows in ${names[1]}`));
      said.textContent = `${count(answer.total.equal)} rows equal, ${count(answer.total.changed)} changed, ${count(answer.total.only_a)} only in the first, ${count(answer.total.only_b)} only in the second.`;
      put(main.querySelector('h1'), ['Compare ', el('span', { class: 'name' }, of(answer.function_a))]);
    }
    for (const pair of answer.pairs) {
      const [mark, word] = SIDES[pair.side] ?? ['?', pair.side];
      body_.append(el('tr', { class: `pair pair-${pair.side}` },
        el('td', { class: 'sign mono' }, el('span', { 'aria-hidden': 'true' }, mark), el('span', { class: 'sr' }, word)), cell(b, link.f, pair.a), cell(other, otherKey, pair.b)));
      if (pair.side !== 'equal') {
        for (const side of [pair.a, pair.b]) if (side) lines.push(`${side === pair.a ? '−' : '+'} ${side[1][2]} ${line(side[1][3])}`);
      }
    }
    cursor = answer.next_cursor;
    more.hidden = !cursor;
    more.disabled = false;
  };
  put(main, el('div', { class: 'page wide' }, head('Compare', 'two functions, row by row', el('a', { class: 'button', href: write({ b: other, w: 'diff', a: `${b}:${link.f}`, f: otherKey }) }, 'Swap'),
    el('a', { class: 'button', href: write({ b, w: 'diff', a: other }) }, 'The builds'), el('button', { type: 'button', 'data-cite': true }, 'Copy citation')),
  el('details', {}, el('summary', {}, 'Compare something else'), form), about, said,
  el('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Rows, side by side' }, el('table', { class: 'table pairs-table' }, el('caption', { class: 'sr' }, 'Rows, side by side'),
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, el('span', { class: 'sr' }, 'How')), el('th', { scope: 'col', colspan: 2 }, names[0]), el('th', { scope: 'col', colspan: 2 }, names[1]))), body_)), more));
  await next();
  return { title: 'Compare functions', cite: () => citation(link, [said.textContent, ...lines.slice(0, 80)].join('\n')) };
}
