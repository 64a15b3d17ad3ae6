/** Draws boxes in their own coordinates; used for screen elements, canvas and export. */
import { pillText } from '../../../core/tree/tensorSeries';
import { BoxKind } from '../../../core/types';
import { drawCompactCard, drawCard } from './drawCard';
import { compactTitleSize, Lod } from '../style/levelOfDetail';
import { PILL_SIZE } from '../style/metrics';
import { drawGroupPanel } from './drawGroupPanel';
import type { IDrawContext, IDrawTarget } from './drawTarget';
import { cleanText } from '../text/textMeasure';
import { fitFontSize } from './groupTitle';

/** Draws one box at the zoom `k`. */
export function drawBox(
  d: IDrawContext,
  box: number,
  k: number,
  lod: Lod,
  target: IDrawTarget
): void {
  const { scene } = d;
  switch (scene.boxKind[box]) {
    case BoxKind.Node:
    case BoxKind.Group:
      return lod === Lod.Full
        ? drawCard(d, box, k, target)
        : drawCompactCard(d, box, k, target);
    case BoxKind.OpenGroup:
      drawGroupPanel(d, box, k, lod, target);
      return;
    case BoxKind.Port:
      return drawPort(scene.boxW[box], scene.boxH[box], target);
    default:
      return drawPill(d, box, k, lod, target);
  }
}

function drawPort(w: number, h: number, target: IDrawTarget): void {
  const r = Math.min(4, w / 2, h / 2);
  target.rect(w / 2 - r, h / 2 - r, 2 * r, 2 * r, r, {
    fill: '--oad-card',
    stroke: '--oad-edge',
    width: 1.5
  });
}

/** Inputs, outputs and connectors. */
function drawPill(
  d: IDrawContext,
  box: number,
  k: number,
  lod: Lod,
  target: IDrawTarget
): void {
  const { scene, measure } = d;
  const w = scene.boxW[box];
  const h = scene.boxH[box];
  const stub = scene.boxKind[box] === BoxKind.Stub;
  target.rect(0, 0, w, h, h / 2, {
    fill: stub ? '--oad-ground' : '--oad-pill',
    stroke: stub ? '--oad-edge' : '--oad-pill-border',
    dash: stub
  });
  const name = cleanText(pillText(d.tree, scene.boxEntity[box]));
  const height =
    lod === Lod.Full ? PILL_SIZE : Math.min(compactTitleSize(k), h * 0.72);
  const size = fitFontSize(measure, name, w - 16, height, 500);
  target.text(
    w / 2,
    h / 2 + size * 0.36,
    measure.shorten(name, w - 14, size, 500),
    {
      size,
      weight: 500,
      fill: stub ? '--oad-text-quiet' : '--oad-text',
      anchor: 'middle'
    }
  );
}
