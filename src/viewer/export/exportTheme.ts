/** Exports images in light or dark colours, independent of the page. */

import { BoxColors } from '../graph/style/boxColors';
import type { IDrawContext } from '../graph/draw/drawTarget';
import type { IPalette } from '../graph/style/themePalette';
import { OVERLAYS } from '../overlays';
import { computeOverlay, type IColorOptions } from '../overlays/computeOverlay';
import type { Session } from '../session/session';
import type { IViewerState } from '../state/types';
import { sheetPalette } from './plainColors';

export function isDark({ exportTheme, dark }: IViewerState): boolean {
  return exportTheme === 'page' ? dark : exportTheme === 'dark';
}

/** The draw context with the colours of the export. */
export function withExportColors(
  session: Session,
  drawing: IDrawContext
): IDrawContext {
  const state = session.store.get();
  const { overlay, scale, brush, linkedScaleValues } = state;
  const dark = isDark(state);
  if (dark === state.dark || !overlay) {
    return drawing;
  }
  const { scene, model, tree } = drawing;
  const scaled = session.graph.scaled;
  const look: IColorOptions = {
    scale,
    brush,
    dark,
    extraValues: linkedScaleValues,
    rangeOf: scaled
  };
  const values = computeOverlay(OVERLAYS[overlay], scene, tree, look).overlay;
  return { ...drawing, paint: new BoxColors(scene, model, values, tree) };
}

/** The palette of the page, or of the style sheet if the export uses the other theme. */
export function exportPalette(session: Session): IPalette | null {
  const renderer = session.graph.surface?.renderer;
  if (!renderer) {
    return null;
  }
  const state = session.store.get();
  const palette = renderer.colors();
  const dark = isDark(state);
  return dark === state.dark
    ? palette
    : sheetPalette(rulesOf(renderer.root), dark, palette.font);
}

/** The rules with the tokens, from the root that holds the viewer's style sheet. */
function rulesOf(host: HTMLElement): string {
  const root = host.getRootNode();
  const sheets =
    root instanceof ShadowRoot || root instanceof Document
      ? [...root.styleSheets, ...root.adoptedStyleSheets]
      : [];
  return sheets
    .flatMap(readable)
    .filter(rule => rule instanceof CSSStyleRule)
    .map(rule => rule.cssText)
    .filter(text => text.includes('.oad-graph'))
    .join('\n');
}

/** The rules of a sheet; none if it comes from another origin. */
function readable(sheet: CSSStyleSheet): CSSRule[] {
  try {
    return [...sheet.cssRules];
  } catch (error) {
    if (error instanceof DOMException && error.name === 'SecurityError') {
      return [];
    }
    throw error;
  }
}
