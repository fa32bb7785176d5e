/** Who sees it otherwise: axe-core on every view, light and dark, wide and at 375 px; nothing sticks out, nothing moves. */

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

import { check, close, same } from './check.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] };

/** @param {import('./check.mjs').Site} site @param {any[]} views @param {string | undefined} shots */
export async function access(site, views, shots) {
  const ways = [['light', 1360], ['dark', 1360], ['dark', 375]];
  for (const [name, fragment] of views) {
    for (const [scheme, width] of ways) {
      const what = `${name}, ${scheme}, ${width} px`;
      const page = await site.open(fragment, { scheme, width, height: width === 375 ? 740 : 850 });
      if (shots) await page.screenshot({ path: `${shots}/${name.replace(/ /g, '-')}-${scheme}-${width}.png` });
      await page.evaluate(axe);
      const { violations } = await page.evaluate((rules) => globalThis.axe.run(document, rules), RULES);
      const heavy = violations.filter((one) => ['serious', 'critical'].includes(one.impact));
      same(heavy.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 120)} ${node.failureSummary.slice(0, 200)}`).join(' | ')}`), [], `${what}: axe-core`);
      for (const one of violations.filter((one) => !heavy.includes(one))) console.error(`axe-core, ${one.impact}: ${one.id} in ${what}: ${one.nodes[0].html.slice(0, 100)}`);
      const out = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      check(out <= 0, `${what}: it sticks out by ${out} px`);
      await close(page, what);
    }
  }
}

/** Sizes that fingers need (WCAG 2.2, 2.5.8), what is in focus visible, no motion. @param {import('./check.mjs').Site} site */
export async function sizes(site) {
  const page = await site.open(`#v=1&b=${site.pin('hello')}&w=atlas`, { width: 375, height: 740 });
  const small = await page.evaluate(() => [...document.querySelectorAll('button, select, input:not([type=checkbox]), .button, nav a, .brand')]
    .filter((one) => one.checkVisibility()).map((one) => [one.textContent.trim().slice(0, 20), one.getBoundingClientRect()])
    .filter(([, box]) => box.height < 24 || box.width < 24).map(([text]) => text));
  same(small, [], 'controls are 24 px or more');
  const moves = await page.evaluate(() => [...document.querySelectorAll('*')].filter((one) => {
    const style = getComputedStyle(one);
    return style.animationName !== 'none' || parseFloat(style.transitionDuration) > 0;
  }).length);
  same(moves, 0, 'nothing moves for who wants less motion');
  await close(page, 'sizes');
}
