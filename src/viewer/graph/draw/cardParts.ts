/** Parts shared by cards and panels: the chevron and the share bar. */
import { SHARE_BAR } from '../style/metrics';
import type { IDrawTarget } from './drawTarget';

export function chevronPath(x: number, y: number, open: boolean): string {
  return open
    ? `M${x - 4},${y - 2}L${x},${y + 2}L${x + 4},${y - 2}`
    : `M${x - 2},${y - 4}L${x + 2},${y}L${x - 2},${y + 4}`;
}

export function drawShareBar(
  x: number,
  y: number,
  w: number,
  share: number,
  target: IDrawTarget
): void {
  target.rect(x, y, w, SHARE_BAR, 2, { fill: '--oad-share', opacity: 0.2 });
  const barWidth = Math.max(2, w * Math.min(1, share));
  target.rect(x, y, barWidth, SHARE_BAR, 2, { fill: '--oad-share' });
}
