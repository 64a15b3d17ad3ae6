/** Whether the page around a widget is dark, as the hosts say it. */

/** `theme` is `auto`, `light` or `dark`. Hosts: Jupyter, VS Code, Colab, else the system's wish. */
export function isDark(theme: string, el: Element): boolean {
  if (theme === 'light' || theme === 'dark') {
    return theme === 'dark';
  }
  const jupyter = el.closest('[data-jp-theme-light]');
  if (jupyter) {
    return jupyter.getAttribute('data-jp-theme-light') === 'false';
  }
  const { body, documentElement } = el.ownerDocument;
  if (body.dataset.vscodeThemeKind) {
    return /dark|high-contrast$/.test(body.dataset.vscodeThemeKind);
  }
  const colab = documentElement.getAttribute('theme');
  if (colab) {
    return colab === 'dark';
  }
  return window.matchMedia('(prefers-color-scheme: dark)').matches;
}
