/** Pictures that are light or dark whatever the page is. */

import { ScenePaint } from '../graph/paint';
import type { IDrawing } from '../graph/primitives';
import type { IPalette } from '../graph/theme';
import { OVERLAYS } from '../overlays';
import { paintedOverlay } from '../overlays/painted';
import type { Session } from '../session/session';
import type { IViewerState } from '../state/types';
import { sheetPalette } from './colors';

export function isDark({ pictureLook, dark }: IViewerState): boolean {
  return pictureLook === 'page' ? dark : pictureLook === 'dark';
}

/** The drawing in the colours that pictures are to have. */
export function painted(session: Session, drawing: IDrawing): IDrawing {
  const state = session.store.get();
  const { overlay, scale, brush, scaleWith } = state;
  const dark = isDark(state);
  if (dark === state.dark || !overlay) {
    return drawing;
  }
  const { scene, model, tree } = drawing;
  const over = session.stage.scaled;
  const look = { scale, brush, dark, with: scaleWith, over };
  const values = paintedOverlay(OVERLAYS[overlay], scene, tree, look).overlay;
  return { ...drawing, paint: new ScenePaint(scene, model, values, tree) };
}

/** Colours of the page, or those of the style sheet where they must be others. */
export function paletteOf(session: Session): IPalette | null {
  const renderer = session.stage.surface?.renderer;
  if (!renderer) {
    return null;
  }
  const state = session.store.get();
  const shown = renderer.colors();
  const dark = isDark(state);
  return dark === state.dark
    ? shown
    : sheetPalette(rulesOf(renderer.root), dark, shown.font);
}

/** The rules with the tokens, from where the viewer's style sheet is. */
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

/** The rules of a sheet; none where it comes from another host, which is not ours. */
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
