/** Colours of the theme as a canvas needs them: resolved once, read again on a theme change. */
import { TOKENS, type ColorToken } from './boxColors';
import { FONT_FALLBACK } from './metrics';

export interface IPalette {
  /** A colour for a token or, as it is, any CSS colour. */
  color(paint: ColorToken): string;
  readonly font: string;
}

/** Resolves every token below `host` with a probe element, so nested `var()` and `color-mix()` work. */
export function readPalette(host: HTMLElement): IPalette {
  const probe = document.createElement('span');
  probe.style.display = 'none';
  host.appendChild(probe);
  const colors = new Map<string, string>();
  for (const token of TOKENS) {
    probe.style.color = '';
    probe.style.color = `var(${token}, #888)`;
    colors.set(token, getComputedStyle(probe).color || '#888');
  }
  const font = getComputedStyle(host).fontFamily || FONT_FALLBACK;
  probe.remove();
  return { color: paint => colors.get(paint) ?? paint, font };
}

/** True when the system asks for less motion. */
export function prefersReducedMotion(): boolean {
  return (
    typeof matchMedia === 'function' &&
    matchMedia('(prefers-reduced-motion: reduce)').matches
  );
}
