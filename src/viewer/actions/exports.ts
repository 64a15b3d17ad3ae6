import { saveDot, saveFile, savePng, saveSvg } from '../export/lazyExports';
import type { FileFormat } from '../../providers/provider';
import type { Session } from '../session/session';
import type { ITranslate } from '../i18n/translate';
import type { IAction } from './types';

const SCALES = [1, 2, 4];

function png(scale: number): IAction {
  return {
    id: `export-png-${scale}`,
    label: trans =>
      scale === 1
        ? trans.__('Save the graph as PNG')
        : trans.__('Save the graph as PNG at scale %1', scale),
    keys: [],
    run: ({ session }) => void savePng(session, scale)
  };
}

const idOf = (format: FileFormat): string => `export-${format}`;

const FORMATS: readonly FileFormat[] = ['html', 'netron', 'model-explorer'];
const FILES: ReadonlySet<string> = new Set(FORMATS.map(idOf));

function file(
  format: FileFormat,
  label: (trans: ITranslate) => string
): IAction {
  return {
    id: idOf(format),
    label,
    keys: [],
    run: ({ session }) => void saveFile(session, format)
  };
}

function svg(
  id: string,
  region: 'graph' | 'view' | 'selection',
  label: (trans: ITranslate) => string,
  enabled?: IAction['enabled']
): IAction {
  return {
    id,
    label,
    keys: [],
    ...(enabled ? { enabled } : {}),
    run: ({ session }) => void saveSvg(session, region)
  };
}

/** False for files that need a server or kernel if there is none, as in a one-file page. */
export function canExport({ id }: IAction, { provider }: Session): boolean {
  return provider.file !== undefined || !FILES.has(id);
}

/** Exports the visible graph at its current collapse level, as images and other files. */
export const exportActions: readonly IAction[] = [
  svg('export-svg', 'graph', trans => trans.__('Save the graph as SVG')),
  svg('export-svg-view', 'view', trans =>
    trans.__('Save the visible area as SVG')
  ),
  svg(
    'export-svg-selection',
    'selection',
    trans => trans.__('Save the selection as SVG'),
    ({ selection, moreSelected }) =>
      selection.kind === 'node' ||
      selection.kind === 'group' ||
      moreSelected.length > 0
  ),
  ...SCALES.map(png),
  file('html', trans => trans.__('Save the model as one HTML file')),
  {
    id: 'export-dot',
    label: trans => trans.__('Save the graph as DOT'),
    keys: [],
    run: ({ session }) => void saveDot(session)
  },
  file('netron', trans => trans.__('Save Metrics for Netron')),
  file('model-explorer', trans =>
    trans.__('Save the heatmap for Model Explorer')
  )
];
