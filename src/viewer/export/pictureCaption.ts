/** Caption of an exported image. */
import type { ScaleMode } from '../../core/base/colorScale';
import { readableTextColor } from '../../core/base/colorScale';
import { formatExact } from '../../core/base/numberFormat';
import { isFusing } from '../../core/latency/latencyEstimate';
import {
  labelText,
  leastText,
  memoryNeed,
  spanText
} from '../summary/deviceText';
import { tilesOf } from '../summary/totalTiles';
import { OVERLAYS, type IOverlayDefinition, type OverlayId } from '../overlays';
import { isMerged } from '../overlays/changesOverlay';
import { deviceLabel } from '../overlays/deviceLabel';
import { type IColorOptions, overlayText } from '../overlays/computeOverlay';
import { rampOf } from '../overlays/heatmapRamp';
import type { ITranslate } from '../i18n/translate';
import type { IGraphModel, ITree } from '../../core/types';
import { SEPARATOR, type ICaption, type ILegend } from './pictureLayout';
import type { IOverlayRange } from '../overlays/types';

/** Totals of general interest. */
const TOTALS = ['params', 'macs', 'flops', 'weight_bytes'];

/** The model, its totals, the sizes they apply to, and what they do not include. */
export function pictureCaption(
  model: IGraphModel,
  trans: ITranslate,
  tree: ITree | null = null
): ICaption {
  const { payload } = model;
  if (tree && isMerged(tree)) {
    // Totals would belong to neither model.
    const count = trans._n('%1 node', '%1 nodes', payload.graph.num_nodes);
    return { title: payload.model.name, lines: [count] };
  }
  const totals = tilesOf(payload, trans)
    .filter(tile => TOTALS.includes(tile.id))
    .map(tile => `${tile.label} ${tile.value}`);
  const nodes = trans._n('%1 node', '%1 nodes', payload.graph.num_nodes);
  const dims = payload.dims.map(({ name, value, assumed }) =>
    value === null
      ? trans.__('%1 free', name)
      : assumed
        ? trans.__('%1 = %2 (assumed)', name, value)
        : `${name} = ${value}`
  );
  const { nodes_known: knownNodes, nodes_total: totalNodes } = payload.coverage;
  const partial =
    knownNodes < totalNodes
      ? trans.__(
          'Costs known for %1 of %2 nodes.',
          formatExact(knownNodes),
          formatExact(totalNodes)
        )
      : '';
  return {
    title: payload.model.name,
    lines: [
      [nodes, ...totals].join(SEPARATOR),
      dims.join(SEPARATOR),
      timeLine(model, trans),
      partial
    ].filter(line => line)
  };
}

/** The estimated latency, its device and quality, marked as a lower bound if kernels are not included. */
function timeLine(model: IGraphModel, trans: ITranslate): string {
  const { latency } = model;
  if (!latency) {
    return '';
  }
  const device = deviceLabel(model);
  const need = memoryNeed(model, trans);
  // Short parts: a narrow page breaks lines between them.
  return [
    ...(Number.isNaN(latency.seconds)
      ? [trans.__('Latency on %1 unknown', device)]
      : [
          trans.__('Latency on %1: %2', device, leastText(latency)),
          `${spanText(latency, trans)} (${labelText(latency, trans)})`
        ]),
    isFusing(latency.part.runtime)
      ? trans.__('fused runtime assumed')
      : latency.part.runtime_label,
    ...(need.fits ? [] : [need.text])
  ].join(SEPARATOR);
}

function scaleName(scale: ScaleMode, trans: ITranslate): string {
  switch (scale) {
    case 'log':
      return trans.__('log');
    case 'rank':
      return trans.__('rank');
    default:
      return trans.__('linear');
  }
}

/** The legend of a heatmap whose colours span `range`. */
export function pictureLegend(
  id: OverlayId,
  range: IOverlayRange,
  tree: ITree,
  look: IColorOptions,
  trans: ITranslate
): ILegend {
  const definition: IOverlayDefinition = OVERLAYS[id];
  const isKnown = Number.isFinite(range.max);
  const states = definition.states?.(tree);
  return {
    label: definition.label(trans, tree),
    about: definition.about?.(tree) ?? '',
    scale: scaleName(look.scale, trans),
    low: isKnown ? overlayText(definition, range.low) : '',
    high: isKnown
      ? overlayText(definition, range.max)
      : trans.__('No known values.'),
    unknown:
      range.unknown > 0
        ? trans._n('%1 box unknown', '%1 boxes unknown', range.unknown)
        : '',
    color: rampOf(look.dark, definition.ramp).color,
    states: states?.looks.map(({ position: place, sign, label, dash }) => {
      const color = states.color(place, look.dark);
      return { color, text: readableTextColor(color), sign, label, dash };
    })
  };
}
