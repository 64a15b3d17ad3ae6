// @vitest-environment jsdom
import { act, fireEvent, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { repeatPayload } from '../../core/testing/payloads';
import { BoxKind } from '../../core/types';
import type { IHover } from '../graph/api';
import { guardConsole, mount, settle } from '../testing/render';
import { surface } from '../testing/surface';
import { placeOf } from './place';

vi.mock('../graph/surface', async () => ({
  GraphSurface: (await import('../testing/surface')).FakeSurface
}));
vi.mock('../graph/measure', async () => await import('../testing/sizer'));

guardConsole();
afterEach(() => vi.useRealTimers());

const GAP = 6;
const pane = { w: 400, h: 300 };
const tip = { w: 120, h: 80 };

test('a tip stands below its box, else above, right or left of it, and inside the pane', () => {
  const at = (x: number, y: number, w: number, h: number) =>
    placeOf({ x, y, w, h }, tip, pane);
  expect(at(50, 40, 60, 30)).toEqual({ x: 50, y: 70 + GAP });
  expect(at(50, 240, 60, 30)).toEqual({ x: 50, y: 240 - GAP - 80 });
  expect(at(390, 40, 60, 30)).toEqual({ x: 400 - 120 - GAP, y: 70 + GAP });
  expect(at(-30, 40, 60, 30)).toEqual({ x: GAP, y: 70 + GAP });
  expect(at(50, -20, 60, 310)).toEqual({ x: 110 + GAP, y: GAP });
  expect(at(200, -20, 180, 310)).toEqual({ x: 200 - 120 - GAP, y: GAP });
  expect(at(-20, -20, 500, 400)).toBeNull();
});

test('a tip never covers its box', () => {
  for (let x = -80; x < 400; x += 37) {
    for (let y = -80; y < 300; y += 29) {
      for (const size of [90, 130, 170]) {
        const found = placeOf({ x, y, w: size, h: size }, tip, pane);
        if (found) {
          const apart =
            found.x >= x + size ||
            found.x + tip.w <= Math.max(0, x) ||
            found.y >= y + size ||
            found.y + tip.h <= Math.max(0, y);
          expect(apart).toBe(true);
          expect(found.x).toBeGreaterThanOrEqual(0);
          expect(found.y).toBeGreaterThanOrEqual(0);
          expect(found.x + tip.w).toBeLessThanOrEqual(pane.w);
          expect(found.y + tip.h).toBeLessThanOrEqual(pane.h);
        }
      }
    }
  }
});

const shown = (): HTMLElement | null => document.querySelector('.oad-Tip');

function hover(what: IHover): void {
  act(() => surface().callbacks.onHover?.(what));
}

async function mounted(): Promise<void> {
  const payload = repeatPayload(3);
  await mount({
    ...payload,
    metrics: { ...payload.metrics, total_macs: 10_000 }
  });
  await settle();
  vi.useFakeTimers();
}

const wait = (ms: number): void => act(() => void vi.advanceTimersByTime(ms));

test('after a rest a box tells its shapes, its costs and its share', async () => {
  await mounted();
  const { nodes } = repeatPayload(3);
  const scene = surface().scene!;
  const costly = Array.from(scene.boxEntity).find(
    (entity, box) =>
      scene.boxKind[box] === BoxKind.Group ||
      (scene.boxKind[box] === BoxKind.Node && (nodes.macs[entity] ?? 0) > 0)
  );
  hover({ kind: 'entity', id: costly! });
  wait(400);
  expect(shown()).toBeNull();
  wait(200);
  const tip = screen.getByRole('tooltip', { hidden: true });
  expect(tip.textContent).toMatch(/In.*float32 /);
  expect(tip.textContent).toMatch(/MACs.*of the model/);
  hover(null);
  expect(shown()).toBeNull();
});

test('a click, Escape and a moving picture take it away; a wire has none', async () => {
  await mounted();
  const entity = surface().scene!.boxEntity[0];
  const ends = [
    () => fireEvent.pointerDown(document.body),
    () => fireEvent.keyDown(document.body, { key: 'Escape' }),
    () => surface().callbacks.onCameraChange?.({ x: 0, y: 0, k: 2 })
  ];
  for (const end of ends) {
    hover({ kind: 'entity', id: entity });
    wait(600);
    expect(shown()).not.toBeNull();
    act(() => void end());
    expect(shown()).toBeNull();
    hover(null);
  }
  hover({ kind: 'tensor', id: 0 });
  wait(600);
  expect(shown()).toBeNull();
});

test('names are text', async () => {
  const payload = repeatPayload(3);
  const op = payload.ops.map(one => ({ ...one, type: '<img src=x>' }));
  await mount({ ...payload, ops: op });
  await settle();
  vi.useFakeTimers();
  const scene = surface().scene!;
  const nodes = Array.from(scene.boxEntity).filter(
    entity => entity < payload.nodes.op.length
  );
  hover({ kind: 'entity', id: nodes[0] ?? scene.boxEntity[0] });
  wait(600);
  expect(shown()).not.toBeNull();
  expect(shown()!.querySelector('img')).toBeNull();
});
