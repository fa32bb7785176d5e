/** The views, by URL: each shows what the archive says, with its heading, tab, provenance and citation. */

import { check, close, same, shown } from './check.mjs';

/** Views to open: name, fragment, what must stand there. @param {import('./check.mjs').Site} site */
export async function list(site) {
  const libc = site.pin('libc.so.6');
  const hello = site.pin('hello');
  const [puts, main] = await Promise.all([site.json(`${libc}/function/puts`), site.json(`${hello}/function/main`)]);
  const changed = [site.pin('changed-hello-x86_64'), site.pin('changed-world-x86_64')];
  const mains = await Promise.all(changed.map((pin) => site.json(`${pin}/function/main`).catch(() => null)));
  const views = [
    ['catalogue', '#v=1&w=catalogue', ['Builds', 'libc.so.6', 'hello']],
    ['summary', `#v=1&b=${libc}&w=atlas`, ['libc.so.6', 'functions', 'Edges by class', '.text', 'Diagnostics']],
    ['functions', `#v=1&b=${libc}&w=listing`, ['Functions', 'abort']],
    ['all bodies', `#v=1&b=${libc}&w=listing&k=all`, ['stub', 'gap']],
    ['listing', `#v=1&b=${hello}&w=listing&f=${main.key}&s=source`, ['main', 'call', 'hello.c']],
    ['rows', `#v=1&b=${libc}&w=listing&f=${puts.key}`, ['puts', 'pushq']],
    ['outline', `#v=1&b=${hello}&w=listing&f=${main.key}&s=outline`, ['rows 0', 'hello.c']],
    ['calls out', `#v=1&b=${libc}&w=graph&f=${puts.key}&d=out`, ['Calls out of puts', 'ifunc', 'strlen', 'not known statically']],
    ['callers', `#v=1&b=${hello}&w=graph&f=${main.key}&d=in`, ['Callers of main']],
    ['callers of an import', `#v=1&b=${libc}&w=graph&i=malloc@GLIBC_2.2.5&d=in`, ['Callers of malloc@GLIBC_2.2.5', 'import']],
    ['imports', `#v=1&b=${hello}&w=graph`, ['Imports', '__libc_start_main']],
    ['strings and data', `#v=1&b=${libc}&w=strings`, ['Strings and data', 'object']],
    ['strings', `#v=1&b=${libc}&w=strings&k=string`, ['string']],
    ['sources', `#v=1&b=${hello}&w=source`, ['Sources', 'hello.c']],
    ['search', `#v=1&b=${libc}&w=search&q=malloc&m=substring`, ['Search for malloc', '__libc_malloc', 'results']],
    ['search by the start', `#v=1&b=${libc}&w=search&q=qsort&m=prefix&k=function`, ['qsort_r']],
    ['search by regex', `#v=1&b=${libc}&w=search&q=%5Estrn?cmp%24&m=regex&k=function`, ['strcmp', 'strncmp']],
    ['search over builds', '#v=1&w=search&q=main&m=exact&k=function', ['over the builds', 'hello', 'searched']],
    ['builds by name', '#v=1&w=search&q=libc&m=substring&k=build', ['libc.so.6']],
    ['compare', `#v=1&b=${libc}&w=diff`, ['Compare', 'From', 'To']],
    ['builds compared', `#v=1&b=${changed[0]}&w=diff&a=${changed[1]}`, ['changed-hello', 'changed-world', 'SHA-256']],
  ];
  if (mains[0] && mains[1]) {
    views.push(['functions compared', `#v=1&b=${changed[0]}&w=diff&a=${changed[1]}:${mains[1].key}&f=${mains[0].key}`, ['Verdict', 'rows equal']]);
  }
  const source = (await site.json(`${hello}/sources/0.json`)).sources.find((file) => file.lines);
  if (source) {
    views.push(['source', `#v=1&b=${hello}&w=source&p=${encodeURIComponent(source.path).replace(/%2F/g, '/')}&l=1-3`, ['hello.c', source.level, 'main']]);
  }
  return views;
}

/** @param {import('./check.mjs').Site} site @param {any[]} views */
export async function views(site, views) {
  for (const [name, fragment, wanted] of views) {
    const page = await site.open(fragment);
    const text = await shown(page);
    for (const one of wanted) check(text.includes(one), `${name} shows “${one}”`);
    same(await page.locator('h1').count(), 1, `${name}: headings of the first level`);
    check((await page.title()).endsWith('elfscope') && (await page.title()) !== 'elfscope', `${name} has a title of its own`);
    const provenance = page.locator('#provenance');
    check(await provenance.isVisible(), `${name}: provenance is visible`);
    if (fragment.includes('&b=')) {
      const [, build, edition] = /b=([^/]+)\/([0-9a-f]{32})/.exec(fragment);
      const said = await provenance.innerText();
      check(said.includes(build.slice(0, 12)) && said.includes(edition.slice(0, 8)) && /known from\s+\S/.test(said), `${name}: provenance says which build, edition, and how known`);
    }
    // Reloaded, it is the same view.
    const before = await page.evaluate(() => location.hash);
    await page.reload();
    await page.waitForSelector('h1');
    same(await page.evaluate(() => location.hash), before, `${name}: the URL after a reload`);
    same((await page.locator('h1').innerText()).trim(), text.split('\n').map((line) => line.trim()).find((line) => line !== ''), `${name}: the heading after a reload`);
    await close(page, name);
  }
}

/** Every row of a listing once, as its document has it. @param {import('./check.mjs').Site} site */
export async function rows(site) {
  const pin = site.pin('libc.so.6');
  const { key } = await site.json(`${pin}/function/qsort_r`);
  const first = await site.json(`${pin}/fn/${key}.json`);
  const wanted = new Map();
  for (let number = 0; number < first.pages; number += 1) {
    const page = number === 0 ? first : await site.json(`${pin}/fn/${key}.${number}.json`);
    let n = page.rows_from;
    for (const run of page.runs) for (const row of run.rows) wanted.set(n++, row);
  }
  for (const mode of ['source', 'asm']) {
    const page = await site.open(`#v=1&b=${pin}&w=listing&f=${key}${mode === 'asm' ? '' : '&s=source'}`);
    const found = new Map();
    let differ = 0;
    const list = page.locator('.listing');
    for (let step = 0; step < 400; step += 1) {
      const seen = await list.evaluate((element) => [...element.querySelectorAll('.line.code')].map((row) =>
        [Number(row.querySelector('.n').textContent), row.querySelector('.at').textContent, row.querySelector('.bytes').textContent.replace(/ /g, ''), row.querySelector('.mnemonic').textContent]));
      for (const [n, at, bytes, mnemonic] of seen) {
        const said = `${at} ${bytes} ${mnemonic}`;
        if (found.has(n) && found.get(n) !== said) differ += 1;
        found.set(n, said);
      }
      const end = await list.evaluate((element) => {
        const before = element.scrollTop;
        element.scrollTop += element.clientHeight;
        return element.scrollTop === before;
      });
      if (end) break;
      await page.waitForTimeout(20);
    }
    const start = BigInt(`0x${key.split('-')[0]}`);
    let right = 0;
    for (const [n, [offset, bytes, mnemonic]] of wanted) {
      if (found.get(n) === `${(start + BigInt(offset)).toString(16)} ${bytes} ${mnemonic}`) right += 1;
    }
    same([right, found.size, differ], [wanted.size, wanted.size, 0], `rows of qsort_r, ${mode}`);
    await close(page, `rows of qsort_r, ${mode}`);
  }
}
