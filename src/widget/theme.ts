/** Detects whether the page around a widget is dark, for each kind of host. */

const DARK_QUERY = '(prefers-color-scheme: dark)';

/** The theme of a Jupyter page, from the nearest element that states it. */
function jupyterTheme(el: Element): string | null {
  const selector = '[data-jp-theme-light]';
  const host = el.closest(selector) ?? el.ownerDocument.body.closest(selector);
  return host?.getAttribute('data-jp-theme-light') ?? null;
}

/**
 * True if the page's `--jp-…` colours are those of its theme. VS Code and Colab define them too: light
 * ones from a style sheet of ipywidgets, whatever the theme, and a few of their own.
 */
export function hasThemeColors(el: Element): boolean {
  return jupyterTheme(el) !== null;
}

/**
 * `theme` is `auto`, `light` or `dark`. Hosts: Jupyter, VS Code, Colab, marimo; otherwise the system's
 * preference.
 */
export function isDark(theme: string, el: Element): boolean {
  if (theme === 'light' || theme === 'dark') {
    return theme === 'dark';
  }
  const { body, documentElement } = el.ownerDocument;
  const jupyter = jupyterTheme(el);
  if (jupyter !== null) {
    return jupyter === 'false';
  }
  if (body.dataset.vscodeThemeKind) {
    return /dark|high-contrast$/.test(body.dataset.vscodeThemeKind);
  }
  for (const element of [documentElement, body]) {
    const attribute =
      element.getAttribute('theme') ?? element.getAttribute('data-theme') ?? '';
    if (attribute === 'dark' || attribute === 'light') {
      return attribute === 'dark';
    }
    if (element.classList.contains('dark')) {
      return true;
    }
    if (element.classList.contains('light')) {
      return false;
    }
  }
  return window.matchMedia(DARK_QUERY).matches;
}

/** Calls `changed` when the theme may have changed; the returned function stops that. */
export function onThemeChange(el: Element, changed: () => void): () => void {
  const { body, documentElement } = el.ownerDocument;
  const observer = new MutationObserver(changed);
  for (const element of [documentElement, body]) {
    observer.observe(element, {
      attributeFilter: [
        'class',
        'data-jp-theme-light',
        'data-jp-theme-name',
        'data-theme',
        'data-vscode-theme-kind',
        'theme'
      ]
    });
  }
  const darkQuery = window.matchMedia(DARK_QUERY);
  darkQuery.addEventListener('change', changed);
  return () => {
    observer.disconnect();
    darkQuery.removeEventListener('change', changed);
  };
}
