/** The page by keyboard alone: from the catalogue to rows, edges, a citation and back; and what the history keeps. */

import { check, close, same, settle, shown } from './check.mjs';

const hash = (page) => page.evaluate(() => location.hash);

/** @param {import('playwright-core').Page} page @param {string} keys */
async function press(page, keys) {
  for (const key of keys.split(' ')) await page.keyboard.press(key);
  await settle(page);
}

/** @param {import('./check.mjs').Site} site */
export async function keyboard(site) {
  const libc = site.pin('libc.so.6');
  const page = await site.open('#v=1&w=catalogue');
  // From the catalogue to the build by Tab and Enter.
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate(() => document.activeElement?.textContent)) === 'libc.so.6') break;
  }
  await press(page, 'Enter');
  same(await hash(page), `#v=1&b=${libc}&w=atlas`, 'Tab and Enter open a build');
  for (const [keys, view] of [['g f', 'w=listing'], ['g d', 'w=strings'], ['g i', 'w=graph'], ['g o', 'w=source'], ['g x', 'w=diff'], ['g s', 'w=atlas'], ['g f', 'w=listing']]) {
    await press(page, keys);
    same(await hash(page), `#v=1&b=${libc}&${view}`, `${keys} opens ${view}`);
  }
  // The list has the focus: arrows and Enter.
  await press(page, 'ArrowDown ArrowDown ArrowDown');
  const active = await page.locator('.line.active a').first().innerText();
  same(await page.locator('.virtual').getAttribute('aria-activedescendant'), await page.locator('.line.active').getAttribute('id'), 'the active row is told');
  await press(page, 'Enter');
  same((await page.locator('h1').innerText()).trim(), active.trim(), 'Enter opens the active function');
  // Search by keyboard.
  await press(page, '/');
  same(await page.evaluate(() => document.activeElement?.id), 'search-text', '/ goes to the search');
  await page.keyboard.type('qsort_r');
  await press(page, 'Enter');
  check((await hash(page)).includes('w=search&q=qsort_r'), 'Enter searches');
  await page.locator('.hits a', { hasText: 'qsort_r' }).first().focus();
  await press(page, 'Enter');
  await page.waitForFunction(() => location.hash.includes('w=listing'));
  await settle(page);
  check((await shown(page)).includes('qsort_r'), 'a result opens its listing');
  // Rows: select three, copy the citation, read it.
  await page.locator('.listing').focus();
  await press(page, 'Home ArrowDown ArrowDown Shift+ArrowDown Shift+ArrowDown');
  const link = await hash(page);
  check(/&r=\d+-\d+&o=\d+$/.test(link), `the URL names the selected rows: ${link}`);
  const [first, last] = /r=(\d+)-(\d+)/.exec(link).slice(1).map(Number);
  same(last - first, 2, 'three rows are selected');
  await page.keyboard.press('c');
  await page.waitForFunction(() => document.getElementById('status').textContent.startsWith('Copied'));
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  const key = /f=([^&]+)/.exec(link)[1];
  same(copied.split('\n')[0], `${site.base}/${link}`, 'a citation starts with the pinned link');
  const told = await (await fetch(`${site.base}/archive/${libc}/fn/${key}.txt?rows=${first}-${last}`)).text();
  const rows = copied.split('\n').slice(2).filter((line) => line !== '');
  check(rows.length >= 3 && rows.every((line) => told.includes(line)), 'a citation quotes the rows as the server tells them');
  same(rows.filter((line) => /^ {2}[0-9a-f]+ {2}([0-9a-f]{2} )+/.test(line)).length, 3, 'a citation has the selected rows');
  // Reload keeps them; back and forward go through the views.
  await page.reload();
  await settle(page);
  same(await hash(page), link, 'a reload keeps the rows');
  same(await page.locator('.line.selected').count(), 3, 'a reload shows the selected rows');
  await page.goBack();
  await settle(page);
  check((await hash(page)).includes('w=search'), 'back is the search');
  await page.goForward();
  await settle(page);
  same(await hash(page), link, 'forward is the listing, at its rows');
  check(await page.locator('.line.selected').first().isVisible(), 'forward shows the selected rows');
  await press(page, 'Escape');
  check(!(await hash(page)).includes('&r='), 'Escape selects nothing');
  for (const [keys, part] of [['s', 's=outline'], ['o', 'w=graph']]) {
    if (keys === 's') {
      await press(page, 's');
      check(!(await hash(page)).includes('s=source'), 's shows rows another way');
    } else {
      await press(page, keys);
      check((await hash(page)).includes(part), `${keys} opens ${part}`);
    }
  }
  // Edges: Enter goes where one leads.
  await page.locator('.virtual').focus();
  await press(page, 'ArrowDown Enter');
  check(!(await hash(page)).includes('d=out'), 'Enter follows an edge');
  // Help, and turning letters off.
  await press(page, '?');
  check(await page.locator('#help').isVisible(), '? opens the help');
  await page.locator('#letters').focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('Escape');
  check(!(await page.locator('#help').isVisible()), 'Escape closes it');
  const before = await hash(page);
  await press(page, 'g c');
  same(await hash(page), before, 'letters can be turned off');
  await page.evaluate(() => localStorage.clear());
  await close(page, 'keyboard');
}

/** Where the reader was is kept. @param {import('./check.mjs').Site} site */
export async function history(site) {
  const libc = site.pin('libc.so.6');
  const page = await site.open(`#v=1&b=${libc}&w=listing`);
  await page.locator('.functions').evaluate((list) => { list.scrollTop = 30000; });
  await page.waitForTimeout(600);
  const top = await page.locator('.functions .line:not(.head-line) a').nth(20).innerText();
  await page.locator('.functions .line:not(.head-line) a').nth(20).click();
  await settle(page);
  await page.goBack();
  await settle(page);
  const now = await page.locator('.functions').evaluate((list) => list.scrollTop);
  check(Math.abs(now - 30000) < 300, `back keeps the place in the list: ${now}`);
  check((await page.locator('.functions').innerText()).includes(top), 'back shows the same functions');
  // The skip link, the theme.
  await page.locator('#theme').click();
  same(await page.evaluate(() => document.documentElement.dataset.theme), 'light', 'the theme can be chosen');
  await page.locator('#theme').click();
  same(await page.evaluate(() => getComputedStyle(document.body).colorScheme), 'dark', 'dark is dark');
  await page.reload();
  await settle(page);
  same(await page.evaluate(() => document.documentElement.dataset.theme), 'dark', 'the theme is kept');
  await page.evaluate(() => localStorage.clear());
  await close(page, 'history');
}
