/** A binary whose names, strings, paths and sources are meant to do something: everything is shown as text. */

import { check, close, same, settle } from './check.mjs';

const MARKUP = '<img src=x onerror=alert(1)>';

/** @param {import('./check.mjs').Site} site @param {string} name the build */
export async function hostile(site, name) {
  const pin = site.pin(name);
  const hit = async (q) => (await site.json(`search?build=${pin}&match=prefix&kind=function&q=${encodeURIComponent(q)}`)).hits;
  const [markup] = await hit('<img');
  const [bidi] = await hit('\u202e');
  const [long] = await hit('yyyyyyyyyy');
  check(markup && bidi && long, 'the hostile names are in the build');
  const at = async (one) => (await site.json(`${pin}/function/0x${one.address}`)).key;
  const keys = { markup: await at(markup), bidi: await at(bidi), long: await at(long) };
  const source = (await site.json(`${pin}/sources/0.json`)).sources.find((file) => file.lines);
  check(source, 'the hostile source is published');
  const path = encodeURIComponent(source.path).replace(/%2F/g, '/');
  const views = [
    ['catalogue', '#v=1&w=catalogue'], ['summary', `#v=1&b=${pin}&w=atlas`], ['functions', `#v=1&b=${pin}&w=listing`],
    ['markup', `#v=1&b=${pin}&w=listing&f=${keys.markup}&s=source`], ['bidi', `#v=1&b=${pin}&w=listing&f=${keys.bidi}&s=source`],
    ['long', `#v=1&b=${pin}&w=listing&f=${keys.long}`], ['outline', `#v=1&b=${pin}&w=listing&f=${keys.markup}&s=outline`],
    ['calls', `#v=1&b=${pin}&w=graph&f=${keys.markup}&d=out`], ['callers', `#v=1&b=${pin}&w=graph&f=${keys.bidi}&d=in`],
    ['strings', `#v=1&b=${pin}&w=strings`], ['sources', `#v=1&b=${pin}&w=source`], ['source', `#v=1&b=${pin}&w=source&p=${path}`],
    ['search', `#v=1&b=${pin}&w=search&q=${encodeURIComponent(MARKUP)}&m=prefix`], ['diff', `#v=1&b=${pin}&w=diff&a=${site.pin('hello')}`],
    ['imports', `#v=1&b=${pin}&w=graph`],
  ];
  for (const [view, fragment] of views) {
    for (const width of [1360, 375]) {
      const page = await site.open(fragment, { width, height: 740 });
      const found = await page.evaluate(() => ({
        // The page has no such elements of its own.
        elements: document.querySelectorAll('img, iframe, object, embed, b.evil, main script, main form[action]').length,
        handlers: [...document.querySelectorAll('*')].filter((one) => [...one.attributes].some((attribute) => attribute.name.startsWith('on') || /^javascript:/i.test(attribute.value))).length,
        hidden: /[\u202a-\u202e\u2066-\u2069\u200b-\u200f\u061c\ufeff\u0000-\u0008\u000b\u000c\u000e-\u001f]/.exec(document.body.innerText)?.[0].codePointAt(0).toString(16),
        titles: [...document.querySelectorAll('[title]')].filter((one) => /[\u202a-\u202e\u2066-\u2069]/.test(one.title)).length,
        links: [...document.querySelectorAll('a')].filter((a) => a.origin !== location.origin).length,
        wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        longest: Math.max(...[...document.querySelectorAll('h1, .line, td, th')].map((one) => one.textContent.length)),
        title: document.title,
      }));
      same([found.elements, found.handlers, found.hidden, found.titles, found.links], [0, 0, undefined, 0, 0], `${view}, ${width} px: what a stranger's text became`);
      check(found.wide <= 0, `${view}, ${width} px sticks out by ${found.wide} px`);
      check(found.longest < 3000, `${view}: the longest text has ${found.longest} characters`);
      check(!/[\u202a-\u202e]/.test(found.title), `${view}: the title turns nothing`);
      await close(page, `hostile ${view}`);
    }
  }
  const page = await site.open(`#v=1&b=${pin}&w=listing&f=${keys.markup}&s=source`);
  same((await page.locator('h1').innerText()).trim(), MARKUP, 'markup in a name is shown as it is written');
  await page.evaluate((to) => { location.hash = to; }, `#v=1&b=${pin}&w=source&p=${path}`);
  await settle(page);
  const text = await page.locator('#main').innerText();
  check(text.includes('</script><script>alert(2)</script>') && text.includes('<U+202E>'), 'markup and turns in a source are shown');
  await page.evaluate((to) => { location.hash = to; }, `#v=1&b=${pin}&w=listing&f=${keys.bidi}&s=source`);
  await settle(page);
  check((await page.locator('h1').innerText()).includes('\\u{202e}'), 'turns of direction in a name are shown as escapes');
  await page.evaluate((to) => { location.hash = to; }, `#v=1&b=${pin}&w=listing&f=${keys.long}`);
  await settle(page);
  check(/yyyy…\(\d+ bytes more\)/.test(await page.locator('h1').innerText()), 'a long name is cut visibly');
  await close(page, 'hostile names');
}
