/** The page's modules, in the browser, on the same cases as the Rust that they must agree with. */

import { check, close, same } from './check.mjs';

const PIN = 'aabbccddeeff00112233/0123456789abcdef0123456789abcdef';

/** As in `serve/core/src/link.rs`. */
const GOOD = [
  '#v=1&w=catalogue', '#v=1&w=catalogue&r=100-199', `#v=1&b=${PIN}&w=atlas`, `#v=1&b=${PIN}&w=atlas&x=s5-40`,
  `#v=1&b=${PIN}&w=listing&f=401000-31&s=source&r=12-18&o=14&e=3`,
  `#v=1&b=${PIN}&w=graph&i=puts@GLIBC_2.2.5&d=in&c=import&n=8&r=0-9`,
  `#v=1&b=${PIN}&w=search&q=a%20b%26%25%23&m=substring&k=string`, `#v=1&b=${PIN}&w=diff&a=${PIN}:401000-31&f=401000-31`,
  `#v=1&b=${PIN}&w=source&p=/usr/src/a%C3%BC.c&l=1-40`, `#v=1&b=${PIN}&w=search&q=%27%28%29%2A%21~`,
];
const BAD = [
  '#v=2&w=catalogue', '#w=catalogue', '#v=1', '#v=1&w=map', '#v=1&w=catalogue&z=1', '#v=1&w=catalogue&w=search',
  '#v=1&w=search&b=aabbccddeeff/00', '#v=1&w=listing&r=9-3', '#v=1&w=listing&r=3', '#v=1&w=search&q=%f', '#v=1&w=search&q=%ff',
  '#v=1&w=listing&f=main', '#v=1&w=listing&s=hex', '#v=1&w=listing&b=aabbccdd', `#v=1&w=atlas&b=${PIN}`, '#v', '#v=1&&w=catalogue',
  '#v=1&w=listing&f=0-0', '#v=1&w=listing&x=0x10',
];

/** As in `serve/core/src/escape.rs`. */
const NAMES = [
  ['puts', 'puts'], ['größe', 'größe'], ['a\u001b[31mb', 'a\\u{1b}[31mb'], ['a\nb\tc\0', 'a\\nb\\tc\\0'],
  ['\u202eevil\u2066', '\\u{202e}evil\\u{2066}'], ['\u200f\u061c\u200b', '\\u{200f}\\u{61c}\\u{200b}'], ['a\\n', 'a\\\\n'],
  ['\u009b31m', '\\u{9b}31m'], [`${'x'.repeat(165)}`, `${'x'.repeat(160)}…(5 bytes more)`], ['\u{e0041}', '\\u{e0041}'],
];
const LINES = [
  ['\tputs ("a\\n");\r', '        puts ("a\\n");'], ['a\tb', 'a       b'], ['\u001b[31m\0\r!', '<U+001B>[31m<U+0000><U+000D>!'],
  ['a\u202eb ü', 'a<U+202E>b ü'],
];

/** @param {import('./check.mjs').Site} site */
export async function modules(site) {
  const page = await site.open('#v=1&w=catalogue');
  const links = await page.evaluate(async ([good, bad]) => {
    const { parse, write } = await import('/js/link.js');
    const told = (text) => {
      try {
        return write(parse(text));
      } catch (error) {
        return error.message;
      }
    };
    return [good.map(told), bad.map((text) => [text, told(text)])];
  }, [GOOD, BAD]);
  GOOD.forEach((text, at) => same(links[0][at], text, 'a link comes back'));
  for (const [text, told] of links[1]) check(/[a-z].*\.$/.test(told) && !told.startsWith('#'), `${text} is refused with a sentence: ${told}`);
  const texts = await page.evaluate(async ([names, lines]) => {
    const { code, name, path, quoted } = await import('/js/escape.js');
    const { decode } = await import('/js/sources.js');
    return {
      names: names.map(([text]) => name(text)),
      lines: lines.map(([text]) => code(text)),
      quoted: quoted('say "hi"\n'), cut: quoted('cut', true),
      long: name({ length: 5000, prefix: 'y'.repeat(4096), sha256: '' }),
      path: path(`${'d'.repeat(300)}/ioputs.c`),
      latin: decode(new Uint8Array([...new TextEncoder().encode('latin '), 0xe9, 0x74, 0xc3, 0xbc])),
    };
  }, [NAMES, LINES]);
  NAMES.forEach(([, expected], at) => same(texts.names[at], expected, 'a name'));
  LINES.forEach(([, expected], at) => same(texts.lines[at], expected, 'a line of source'));
  same(texts.quoted, '"say \\"hi\\"\\n"', 'a quoted text');
  same(texts.cut, '"cut"…', 'a cut text');
  same(texts.long, `${'y'.repeat(160)}…(4840 bytes more)`, 'a name of 5,000 bytes');
  check(texts.path.startsWith('(149 bytes before)…d') && texts.path.endsWith('/ioputs.c'), 'a long path');
  same(texts.latin, 'latin <0xE9>tü', 'bytes that are not UTF-8');
  for (const [text] of links[1].filter(([text]) => text.includes('w='))) {
    await page.goto(`${site.base}/${text}`);
    await page.waitForSelector('.refusal');
    check((await page.locator('.refusal').innerText()).includes('can’t be read'), `${text} is refused on the page`);
  }
  await close(page, 'modules');
}

/** The headers and the text of the static files. @param {import('./check.mjs').Site} site */
export async function files(site) {
  const seen = new Set();
  const left = ['/', '/js/main.js', '/css/base.css', '/css/shell.css', '/css/views.css', '/css/listing.css', '/icon.svg'];
  while (left.length > 0) {
    const path = left.pop();
    if (seen.has(path)) continue;
    seen.add(path);
    const response = await fetch(`${site.base}${path}`);
    same(response.status, 200, path);
    const policy = response.headers.get('content-security-policy') ?? '';
    for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'none'"]) {
      check(policy.split(';').some((one) => one.trim() === part), `${path} is sent with ${part}`);
    }
    check(!/unsafe|http:|https:|\*/.test(policy), `${path}: the policy lets nothing else in`);
    same(response.headers.get('x-content-type-options'), 'nosniff', `${path}: nosniff`);
    const text = await response.text();
    if (path.endsWith('.js')) {
      check(text.startsWith('/**\n * '), `${path} opens with what it is`);
      const found = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|setHTML|eval\(|new Function|srcdoc/.exec(text);
      same(found?.[0], undefined, `${path} makes no markup of text`);
      for (const [, to] of text.matchAll(/from '(\.[^']+)'/g)) left.push(new URL(to, `http://x${path}`).pathname);
    }
    if (path === '/') check(!/ style=| on[a-z]+=|<style|<script(?![^>]*src=)/.test(text), 'index.html has nothing inline');
  }
  check(seen.size > 25, `${seen.size} files are looked at`);
}
