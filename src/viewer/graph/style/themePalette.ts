/** Theme colours for canvases: resolved once, and again after a theme change. */
import { TOKENS, type ColorToken } from './boxColors';
import { FONT_FALLBACK } from './metrics';

export interface IPalette {
  /** Resolves a token; returns any other CSS colour unchanged. */
  color(paint: ColorToken): string;
  readonly font: string;
}

/**
 * Resolves every token below `host` with a probe element, so that nested `var()` and `color-mix()` work.
 */
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

/** True if the system requests reduced motion. */
export function prefersReducedMotion(): boolean {
  return (
    typeof matchMedia === 'function' &&
    matchMedia('(prefers-reduced-motion: reduce)').matches
  );
}
