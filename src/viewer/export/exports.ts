/** Exports a session's view as files: the whole graph, the visible area or the selection. */
import { formatExact } from '../../core/base/numberFormat';
import { problemOf, type FileFormat } from '../../providers/provider';
import { SHOWN } from '../../schema/metrics';
import { visibleRect } from '../graph/geometry/camera';
import { visibleBoxes } from '../graph/scene/entityBoxes';
import { entityOf } from '../session/entityNames';
import type { Session } from '../session/session';
import type { ITranslate } from '../i18n/translate';
import { MAX_PIXELS, pixelsOf, pngOf } from './canvasTarget';
import { pictureCaption, pictureLegend } from './pictureCaption';
import { sceneDot } from './dot';
import { deliverFile } from './deliverFile';
import { isDark, withExportColors, exportPalette } from './exportTheme';
import { type IPage, makePage } from './pictureLayout';
import { type IPicture, selectionOf, wholeSceneRect } from './drawPicture';
import { fileName } from './downloadFile';
import { SvgFileTarget } from './svgFileTarget';

export type ExportPart = 'graph' | 'view' | 'selection';

/** Heatmaps whose values can be attached to a file for another viewer. */
const ATTACHED: ReadonlySet<string> = new Set(SHOWN.attachment);

const SUFFIX: Readonly<Record<ExportPart, string>> = {
  graph: '',
  view: '-view',
  selection: '-selection'
};

/** The part as currently drawn; null if there is nothing to draw. */
function pictureOf(session: Session, part: ExportPart): IPicture | null {
  const { surface } = session.graph;
  const { drawing, index } = surface?.renderer ?? {};
  if (!surface || !drawing || !index) {
    return null;
  }
  const { scene } = drawing;
  const common = { drawing: withExportColors(session, drawing), index };
  if (part === 'view') {
    const { camera, view } = surface;
    const region = visibleRect(camera, view);
    return { ...common, region, k: camera.k, only: null };
  }
  if (part === 'selection') {
    const { document, selection, moreSelected } = session.store.get();
    const first = document ? entityOf(document.model, selection) : null;
    const entities = [...(first === null ? [] : [first]), ...moreSelected];
    const extent = selectionOf(scene, visibleBoxes(scene, entities));
    return extent && { ...common, ...extent, k: 1 };
  }
  return { ...common, region: wholeSceneRect(scene), k: 1, only: null };
}

/** The page of a part: picture, caption, legend. */
export function pageOf(session: Session, part: ExportPart): IPage | null {
  const { trans } = session;
  const picture = pictureOf(session, part);
  const state = session.store.get();
  const { overlay, overlayRange, scale, document } = state;
  if (!picture || !document) {
    return null;
  }
  const { measure, model } = picture.drawing;
  const legend =
    overlay && overlayRange
      ? pictureLegend(
          overlay,
          overlayRange,
          document.tree,
          { scale, dark: isDark(state) },
          trans
        )
      : null;
  const caption = pictureCaption(model, trans, document.tree);
  return makePage(picture, caption, legend, measure);
}

/** The SVG file of a part; null if there is nothing to draw. */
function svgOf(session: Session, part: ExportPart): string | null {
  const page = pageOf(session, part);
  const drawing = session.graph.surface?.renderer.drawing;
  const palette = exportPalette(session);
  if (!page || !drawing || !palette) {
    return null;
  }
  const file = new SvgFileTarget(palette, drawing.measure);
  page.draw(file);
  return file.file(page.width, page.height, page.title);
}

function save(session: Session, suffix: string, data: Blob): void {
  deliverFile(session, fileName(session.provider.exportName, suffix), data);
}

export function exportSvg(session: Session, part: ExportPart): void {
  const text = svgOf(session, part);
  if (text !== null) {
    const data = new Blob([text], { type: 'image/svg+xml' });
    save(session, `${SUFFIX[part]}.svg`, data);
  }
}

export function exportDot(session: Session): void {
  const drawing = session.graph.surface?.renderer.drawing;
  if (drawing) {
    const caption = pictureCaption(drawing.model, session.trans, drawing.tree);
    const data = new Blob([sceneDot(drawing, caption)], {
      type: 'text/vnd.graphviz'
    });
    save(session, '.dot', data);
  }
}

/** Has the server or kernel create a file that needs more than the drawing, with the heatmap's metric. */
export async function exportFile(
  session: Session,
  format: FileFormat
): Promise<void> {
  const { provider, store, trans } = session;
  if (!provider.file) {
    store.set({
      notice: trans.__(
        'This file needs a server or kernel. Open the model in JupyterLab, or run the cell again.'
      )
    });
    return;
  }
  try {
    const { overlay } = store.get();
    const metric = overlay !== null && ATTACHED.has(overlay) ? overlay : '';
    const { signal } = new AbortController();
    const file = await provider.file(format, metric, signal);
    save(
      session,
      file.extension,
      new Blob([file.text], {
        type: file.media_type
      })
    );
    const notices = [
      format === 'model-explorer' && overlay !== null && !metric
        ? trans.__(
            'The file contains MACs, because this heatmap cannot be exported.'
          )
        : '',
      file.unnamed > 0
        ? trans.__(
            'Unnamed nodes not included in the file: %1.',
            formatExact(file.unnamed)
          )
        : ''
    ].filter(Boolean);
    if (notices.length > 0) {
      store.set({ notice: notices.join(' ') });
    }
  } catch (error) {
    const { detail, hint } = problemOf(error);
    const message = [detail, hint].filter(Boolean).join(' ');
    store.set({
      notice: trans.__('The file could not be created: %1', message)
    });
  }
}

/** Why an image of this size cannot be exported; null if it can. */
export function tooLarge(
  page: IPage,
  scale: number,
  trans: ITranslate
): string | null {
  const { w, h } = pixelsOf(page, scale);
  return w * h <= MAX_PIXELS
    ? null
    : trans.__(
        'At scale %1 the image would have %2 × %3 pixels; the limit is %4 million. Use a smaller scale, collapse blocks, or export as SVG.',
        scale,
        formatExact(w),
        formatExact(h),
        Math.floor(MAX_PIXELS / 1e6)
      );
}

/** Saves the whole graph as PNG, or explains in a notice why that is impossible. */
export async function exportPng(
  session: Session,
  scale: number
): Promise<void> {
  const { trans } = session;
  const page = pageOf(session, 'graph');
  const colors = exportPalette(session);
  if (!page || !colors) {
    return;
  }
  const problem = tooLarge(page, scale, trans);
  if (problem !== null) {
    session.store.set({ notice: problem });
    return;
  }
  session.store.set({ notice: '' });
  try {
    const suffix = scale === 1 ? '.png' : `-${scale}x.png`;
    save(session, suffix, await pngOf(page, scale, colors));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const notice = trans.__('No image could be created: %1', reason);
    session.store.set({ notice });
  }
}
