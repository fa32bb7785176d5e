/**
 * What a reader chose, kept in the browser: light or dark, single letters as keys, whether rows show their bytes. Where nothing can
 * be kept, it holds until the page is left.
 */

const memory = new Map();

/** @param {string} key @param {string} otherwise @returns {string} */
export function get(key, otherwise) {
  try {
    return localStorage.getItem(`elfscope.${key}`) ?? memory.get(key) ?? otherwise;
  } catch {
    return memory.get(key) ?? otherwise;
  }
}

/** @param {string} key @param {string} value */
export function set(key, value) {
  memory.set(key, value);
  try {
    localStorage.setItem(`elfscope.${key}`, value);
  } catch {
    // A browser that keeps nothing is as good.
  }
}

const THEMES = ['system', 'light', 'dark'];

/** Shows the theme that was chosen. @returns {string} its name */
export function applyTheme() {
  const theme = get('theme', 'system');
  if (theme === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', theme);
  return theme;
}

/** Chooses the next theme. @returns {string} its name */
export function nextTheme() {
  set('theme', THEMES[(THEMES.indexOf(get('theme', 'system')) + 1) % THEMES.length]);
  return applyTheme();
}
