import { expect, it } from 'vitest';
import type { IArrangeable, IRowTrial } from './rowArrangement';
import { bestRows } from './rowArrangement';
import { COMFORTABLE_READING_ZOOM, fitZoom } from '../layout/paneZoom';
import type { IRowWidth } from '../types';

const PANE = { w: 1048, h: 648 };

/** A graph of constant area: narrower rows make it higher. */
function constantArea(width: number, height: number, tangle = 0) {
  const trials: IRowWidth[] = [];
  const sizeAt = (rowLength: number): IRowTrial => {
    const rows = Math.ceil(width / rowLength);
    return {
      width: Math.min(width, rowLength),
      height: rows * (height + 40),
      cuts: tangle,
      portRows: 0
    };
  };
  const view: IArrangeable = {
    boxes: 40,
    straight: { width, height },
    isCurrent: () => true,
    inRows: rows => {
      trials.push(rows);
      return Promise.resolve(sizeAt(rows.room));
    }
  };
  return { view, tried: trials, sizeAt };
}

it('uses one row if it is readable, and the pane width for later expansions', async () => {
  const { view, tried: trials } = constantArea(
    1000 / COMFORTABLE_READING_ZOOM,
    300
  );
  const rows = await bestRows(view, PANE, 'auto');
  expect(rows?.room).toBeCloseTo(1000 / COMFORTABLE_READING_ZOOM);
  expect(trials).toEqual([]);
});

it('breaks a long row at the width with the largest zoom', async () => {
  const { view, tried: trials, sizeAt } = constantArea(6000, 100);
  const rows = await bestRows(view, PANE, 'auto');
  const k = fitZoom(sizeAt(rows!.room), PANE);
  // Tried one by one, no other width is more than slightly better.
  let best = 0;
  for (let rowLength = 400; rowLength < 6000; rowLength += 5) {
    best = Math.max(best, fitZoom(sizeAt(rowLength), PANE));
  }
  expect(k).toBeGreaterThan(best / 1.06);
  expect(trials.length).toBeLessThan(16);
});

it('keeps one row if breaking it gains little or tangles edges', async () => {
  const roomOf = async (...of: Parameters<typeof constantArea>) =>
    (await bestRows(constantArea(...of).view, PANE, 'auto'))!.room;
  expect(await roomOf(1250, 500)).toBeCloseTo(1251, -1);
  expect(await roomOf(2500, 300)).toBeLessThan(2500);
  expect(await roomOf(2500, 300, 20)).toBeCloseTo(2501, -1);
});

it('breaks into rows on request, whatever the gain', async () => {
  const { view } = constantArea(1250, 500);
  const rows = await bestRows(view, PANE, 'wrapped');
  expect(rows?.room).toBeLessThan(1250);
});

it('tries at most two widths for very many boxes', async () => {
  const { view, tried: trials, sizeAt } = constantArea(9e6, 500);
  const rows = await bestRows({ ...view, boxes: 50_000 }, PANE, 'auto');
  expect(trials.length).toBeLessThanOrEqual(2);
  const { width, height } = sizeAt(rows!.room);
  expect(width / height).toBeGreaterThan(0.8);
  expect(width / height).toBeLessThan(3.2);
});

it('stops if another layout overtakes it', async () => {
  const { view, tried: trials } = constantArea(9000, 100);
  await bestRows({ ...view, isCurrent: () => false }, PANE, 'auto');
  expect(trials.length).toBeLessThanOrEqual(2);
});
