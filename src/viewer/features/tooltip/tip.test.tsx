// @vitest-environment jsdom
import { act, fireEvent, screen } from '@testing-library/react';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { formatCount } from '../../../core';
import { PayloadBuilder } from '../../../core/testing/builder';
import { repeatPayload } from '../../../core/testing/payloads';
import { BoxKind } from '../../../core/types';
import type { GraphPayload } from '../../../schema';
import { guardConsole, mount, flushUpdates } from '../../testing/render';
import { surface } from '../../testing/surface';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();
afterEach(() => void vi.useRealTimers());
beforeAll(() => void import('./BoxTip'));

const tooltip = (): HTMLElement | null => document.querySelector('.oad-Tip');

function factText(label: string): string | undefined {
  const terms = [...(tooltip()?.querySelectorAll('dt') ?? [])];
  const term = terms.find(element => element.textContent === label);
  return term?.nextElementSibling?.textContent ?? undefined;
}

async function mounted(payload: GraphPayload): Promise<void> {
  await mount(payload);
  await flushUpdates();
  vi.useFakeTimers();
}

/** A cache of four inputs in one pill, and one separate input. */
function cachePayload(): GraphPayload {
  const b = new PayloadBuilder();
  const ids = b.input('ids');
  const past = [0, 1, 2, 3].map(i => b.input(`past.${i}.key`));
  b.output(b.add('Concat', [ids, ...past])[0]);
  return b.finish();
}

/** The first block or node in the graph. */
function boxOf(kind: 'block' | 'node'): number {
  const kinds: BoxKind[] = [...surface().scene!.boxKind];
  return kinds.findIndex(
    boxKind =>
      (boxKind === BoxKind.Node) === (kind === 'node') &&
      boxKind <= BoxKind.OpenGroup
  );
}

function hover(box: number): void {
  const id = box < 0 ? -1 : surface().scene!.boxEntity[box];
  const target = box < 0 ? null : ({ kind: 'entity', id } as const);
  act(() => surface().callbacks.onHover?.(target, box));
}

const wait = (milliseconds: number): void =>
  act(() => void vi.advanceTimersByTime(milliseconds));

test('the tooltip of a block has its instances, shapes, costs and share', async () => {
  const payload = repeatPayload(3);
  const sum = payload.nodes.macs.reduce<number>((a, b) => a + (b ?? 0), 0);
  const metrics = { ...payload.metrics, total_macs: 4 * sum };
  await mounted({ ...payload, metrics });
  hover(boxOf('block'));
  wait(450);
  expect(tooltip()).toBeNull();
  wait(50);
  expect(screen.getByRole('tooltip', { hidden: true })).toBe(tooltip());
  expect(factText('Instances')).toBe('×3');
  expect(factText('Path')).toBeUndefined();
  expect(factText('In')).toMatch(/^float32 \S+×/);
  expect(factText('Out')).toMatch(/^float32 \S+×/);
  expect(factText('MACs')).toBe(`${formatCount(sum)} (25.0 % of the model)`);
  hover(-1);
  expect(tooltip()).toBeNull();
});

test('a click, a key and a moving graph hide it; an edge has none', async () => {
  await mounted(repeatPayload(3));
  const box = boxOf('block');
  const ends = [
    () => fireEvent.pointerDown(document.body),
    () => fireEvent.keyDown(document.body, { key: 'Escape' }),
    () => surface().callbacks.onCameraChange?.({ x: 0, y: 0, k: 2 })
  ];
  for (const end of ends) {
    hover(box);
    wait(600);
    expect(tooltip()).not.toBeNull();
    fireEvent.keyDown(document.body, { key: 'Control' });
    expect(tooltip()).not.toBeNull();
    act(() => void end());
    expect(tooltip()).toBeNull();
    hover(-1);
  }
  act(() => surface().callbacks.onHover?.({ kind: 'tensor', id: 0 }, -1));
  wait(600);
  expect(tooltip()).toBeNull();
});

test('the box with keyboard focus has a tooltip until a key hides it', async () => {
  await mounted(repeatPayload(3));
  const { host } = surface();
  host.tabIndex = 0;
  host.focus();
  act(() => surface().callbacks.onRing?.(boxOf('block')));
  wait(600);
  expect(tooltip()).not.toBeNull();
  expect(host.getAttribute('aria-describedby')).toBe(tooltip()!.id);
  act(() => void fireEvent.keyDown(host, { key: 'Escape' }));
  expect(tooltip()).toBeNull();
  expect(host.hasAttribute('aria-describedby')).toBe(false);
  act(() => surface().callbacks.onRing?.(-1));
  wait(2000);
  expect(tooltip()).toBeNull();
});

test('unknown values have a reason', async () => {
  const payload = repeatPayload(3);
  const { nodes } = payload;
  const none = nodes.macs.map(() => null);
  const reason = Object.fromEntries(
    none.map((_, node) => [String(node), 'no rule for Conv'])
  );
  await mounted({ ...payload, nodes: { ...nodes, macs: none, reason } });
  hover(boxOf('block'));
  wait(600);
  expect(factText('MACs')).toBe('unknown');
  const node = boxOf('node');
  expect(node).toBeGreaterThanOrEqual(0);
  hover(node);
  wait(600);
  expect(factText('MACs')).toBe('unknown: no rule for Conv');
});

test('grouped inputs show their number and consumers', async () => {
  await mounted(cachePayload());
  const scene = surface().scene!;
  const pills = [...scene.boxKind.keys()].filter(
    box => scene.boxKind[box] === BoxKind.Input
  );
  const texts = pills.map(box => {
    hover(box);
    wait(600);
    return tooltip()!.textContent;
  });
  expect(texts.join('\n')).toMatch(/Grouped inputs +past\.#\.key.*Tensors4/);
  expect(texts.join('\n')).toMatch(/Input +ids.*Used by/);
});

test('names are shown as text', async () => {
  const payload = repeatPayload(3);
  const ops = payload.ops.map(op => ({ ...op, type: '<img src=x>' }));
  const name = payload.nodes.name.map(() => '<b>\u202egpj');
  const settings = Object.fromEntries(name.map((_, node) => [node, '<i>0']));
  const nodes = { ...payload.nodes, name, settings };
  await mounted({ ...payload, ops, nodes });
  hover(boxOf('node'));
  wait(600);
  expect(tooltip()!.textContent).toContain('<img src=x>');
  expect(tooltip()!.textContent).toContain('<b>\\u202egpj');
  expect(tooltip()!.textContent).toContain('<i>0');
  expect(tooltip()!.querySelector('img, b, i')).toBeNull();
});
