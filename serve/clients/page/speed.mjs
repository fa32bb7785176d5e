/** How fast: libc's functions, the first rows of a listing, a function of 100,000 rows. */

import { check, close, same, settle } from './check.mjs';

/** @param {import('./check.mjs').Site} site */
export async function speed(site) {
  const libc = site.pin('libc.so.6');
  const { counts } = await site.json(`${libc}/meta.json`);
  const page = await site.open(`#v=1&b=${libc}&w=atlas`);
  const measure = async (fragment, selector, enough) => {
    await page.evaluate(() => { location.hash = '#v=1&w=catalogue'; });
    await settle(page);
    const start = Date.now();
    await page.evaluate((to) => { location.hash = to; }, fragment);
    await page.waitForFunction(([one, many]) => document.querySelectorAll(one).length >= many, [selector, enough], { polling: 'raf' });
    return Date.now() - start;
  };
  const functions = await measure(`#v=1&b=${libc}&w=listing`, '.functions .line a', 20);
  const start = Date.now();
  await page.waitForFunction((total) => document.querySelector('.functions').getAttribute('aria-rowcount') === String(total), counts.functions, { polling: 'raf' });
  const all = functions + Date.now() - start;
  console.log(`libc: ${counts.functions} functions, the first shown after ${functions} ms, all counted after ${all} ms`);
  check(functions < 1000, `libc's functions are shown after ${functions} ms`);
  check(all < 3000, `all of libc's functions are there after ${all} ms`);
  // The end of the list is as near as its start.
  await page.locator('.functions').focus();
  await page.keyboard.press('End');
  await page.waitForFunction((row) => document.querySelector('.functions .line.active')?.getAttribute('aria-rowindex') === String(row), counts.functions);
  check(true, 'End shows the last function');
  const made = await page.locator('.functions .line').count();
  check(made < 150, `only what is in sight is there: ${made} rows`);
  const { key } = await site.json(`${libc}/function/puts`);
  const puts = await measure(`#v=1&b=${libc}&w=listing&f=${key}&s=source`, '.listing .line.code', 10);
  console.log(`libc: rows of puts with source shown after ${puts} ms`);
  check(puts < 1000, `rows of puts are shown after ${puts} ms`);
  await close(page, 'speed');
}

/** @param {import('./check.mjs').Site} site @param {string} name the build that has it */
export async function huge(site, name) {
  const pin = site.pin(name);
  const { key, head } = await site.json(`${pin}/function/huge`);
  check(head.rows_total > 100_000, `the function has ${head.rows_total} rows`);
  const page = await site.open('#v=1&w=catalogue');
  const start = Date.now();
  await page.evaluate((to) => { location.hash = to; }, `#v=1&b=${pin}&w=listing&f=${key}`);
  await page.waitForFunction(() => document.querySelectorAll('.listing .line.code').length >= 10, null, { polling: 'raf' });
  const first = Date.now() - start;
  console.log(`${head.rows_total} rows: the first shown after ${first} ms`);
  check(first < 1000, `the first rows of many are shown after ${first} ms`);
  const list = page.locator('.listing');
  // By the scrollbar, to places all over it: rows stand there, in order, and few elements.
  for (const share of [0.25, 0.5, 0.75, 0.1, 0.99]) {
    await list.evaluate((element, to) => { element.scrollTop = to * (element.scrollHeight - element.clientHeight); }, share);
    await settle(page);
    await page.waitForFunction(() => document.querySelectorAll('.listing .line.code').length >= 10 && !document.querySelector('.listing .waiting'));
    const rows = await list.evaluate((element) => [...element.querySelectorAll('.line.code .n')].map((one) => Number(one.textContent)));
    check(rows.every((row, at) => at === 0 || row === rows[at - 1] + 1), `rows in order at ${share}`);
    check(Math.abs(rows[0] / head.rows_total - share) < 0.05, `row ${rows[0]} stands at ${share}`);
    check(rows.length < 120, `${rows.length} rows are made`);
  }
  await list.focus();
  await page.keyboard.press('End');
  await page.waitForFunction((row) => [...document.querySelectorAll('.listing .line.code .n')].some((one) => one.textContent === String(row)), head.rows_total - 1);
  check(true, 'End shows the last row');
  await page.keyboard.press('Home');
  await page.waitForFunction(() => [...document.querySelectorAll('.listing .line.code .n')].some((one) => one.textContent === '0'));
  check(true, 'Home shows the first row');
  await page.goto(`${site.base}/#v=1&b=${pin}&w=listing&f=${key}&r=77777-77779&o=77778`);
  await page.waitForFunction(() => document.querySelectorAll('.listing .line.selected').length === 3);
  same(await page.locator('.line.active .n').innerText(), '77778', 'a link opens at its row');
  await close(page, 'huge');
}
