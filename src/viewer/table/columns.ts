/** How the columns of the layers table look. */

import { formatBytes, formatCount, formatShare } from '../../core';
import type { ITranslate } from '../translate';
import type { ColumnId } from './rows';

export interface IColumn {
  readonly id: ColumnId;
  label(trans: ITranslate): string;
  /** A CSS grid track. */
  readonly width: string;
  /** Short text of a number. */
  format?(value: number, total: number): string;
}

const share = (value: number, total: number): string =>
  total > 0 ? formatShare(value / total) : formatShare(Number.NaN);

export const COLUMNS: readonly IColumn[] = [
  { id: 'name', label: t => t.__('Name'), width: 'minmax(160px, 2fr)' },
  { id: 'op', label: t => t.__('Operator'), width: '130px' },
  { id: 'input_shape', label: t => t.__('Input shape'), width: '130px' },
  { id: 'output_shape', label: t => t.__('Output shape'), width: '130px' },
  {
    id: 'params',
    label: t => t.__('Params'),
    width: '84px',
    format: value => formatCount(value)
  },
  {
    id: 'params_share',
    label: t => t.__('% params'),
    width: '78px',
    format: share
  },
  {
    id: 'macs',
    label: t => t.__('MACs'),
    width: '84px',
    format: value => formatCount(value)
  },
  {
    id: 'macs_share',
    label: t => t.__('% MACs'),
    width: '78px',
    format: share
  },
  {
    id: 'flops',
    label: t => t.__('FLOPs'),
    width: '84px',
    format: value => formatCount(value)
  },
  {
    id: 'activation_bytes',
    label: t => t.__('Activation'),
    width: '92px',
    format: value => formatBytes(value)
  },
  {
    id: 'weight_bytes',
    label: t => t.__('Weights'),
    width: '92px',
    format: value => formatBytes(value)
  },
  { id: 'scope', label: t => t.__('Scope'), width: 'minmax(120px, 1.5fr)' }
];

export const GRID_TEMPLATE = COLUMNS.map(column => column.width).join(' ');
