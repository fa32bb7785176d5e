/**
 * The page in a real browser: `main.mjs BASE HOSTILE HUGE [FOLDER FOR PICTURES]`. The last line that it prints is
 * `{"passed": …, "failed": […]}`.
 */

import { access, sizes } from './access.mjs';
import { Site, browser, check, counts } from './check.mjs';
import { hostile } from './hostile.mjs';
import { history, keyboard } from './keyboard.mjs';
import { files, modules } from './modules.mjs';
import { huge, speed } from './speed.mjs';
import { list, rows, views } from './views.mjs';

const [base, hostileName, hugeName, shots] = process.argv.slice(2);
const only = (process.env.ONLY ?? '').split(',').filter(Boolean);
const site = new Site(base, await browser());
await site.read();
const shown = await list(site);
const parts = {
  speed: () => speed(site),
  huge: () => huge(site, hugeName),
  files: () => files(site),
  modules: () => modules(site),
  views: () => views(site, shown),
  rows: () => rows(site),
  keyboard: () => keyboard(site),
  history: () => history(site),
  hostile: () => hostile(site, hostileName),
  sizes: () => sizes(site),
  access: () => access(site, shown, shots),
};
for (const [name, part] of Object.entries(parts)) {
  if (only.length > 0 && !only.includes(name)) continue;
  const before = counts().passed;
  const start = Date.now();
  try {
    await part();
  } catch (error) {
    check(false, `${name}: ${error.message.split('\n')[0]}`);
    console.error(error.stack);
  }
  console.log(`${name}: ${counts().passed - before} passed in ${((Date.now() - start) / 1000).toFixed(1)} s`);
}
await site.browser.close();
console.log(JSON.stringify(counts()));
