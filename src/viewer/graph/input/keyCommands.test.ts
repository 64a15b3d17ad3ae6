import { describe, expect, it } from 'vitest';
import { BoxKind } from '../../../core/types';
import { commandOf, type IKey } from './keyCommands';
import { SceneAdjacency } from '../scene/sceneAdjacency';
import { wheelFactor } from './pointerInput';
import { fromBoxes } from '../testing/scene';

const key = (name: string, modifiers: Partial<IKey> = {}): IKey => ({
  key: name,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...modifiers
});

describe('keys', () => {
  it.each([
    [key('ArrowRight'), { kind: 'step', direction: 'right', additive: false }],
    [
      key('ArrowUp', { shiftKey: true }),
      { kind: 'step', direction: 'up', additive: true }
    ],
    [key('ArrowUp', { ctrlKey: true }), { kind: 'pan', direction: 'up' }],
    [key('Enter'), { kind: 'activate', recursive: false }],
    [key('Enter', { altKey: true }), { kind: 'activate', recursive: true }],
    [key(' '), { kind: 'fit' }],
    [key('f'), { kind: 'fit' }],
    [key('Backspace', { shiftKey: true }), { kind: 'actual' }],
    [key('Escape'), { kind: 'clear' }]
  ])('%o is %o', (event, command) => {
    expect(commandOf(event)).toEqual(command);
  });

  it('ignores all other keys', () => {
    const otherKeys = [
      key('f', { ctrlKey: true }),
      key('Backspace'),
      key('ArrowLeft', { altKey: true }),
      key('e'),
      key('Tab')
    ];
    expect(otherKeys.map(commandOf)).toEqual([null, null, null, null, null]);
  });
});

describe('wheel', () => {
  it('zooms in and out by the same factor, less for a trackpad, bounded for a mouse', () => {
    expect(wheelFactor(100) * wheelFactor(-100)).toBeCloseTo(1);
    expect(wheelFactor(-3)).toBeLessThan(1.05);
    expect(wheelFactor(-10000)).toBeLessThan(1.3);
    expect(wheelFactor(-30)).toBeGreaterThan(wheelFactor(-20));
  });
});

describe('keyboard navigation', () => {
  const box = (x: number, y: number, kind = BoxKind.Node) => ({
    kind,
    entity: 0,
    x,
    y,
    w: 80,
    h: 30,
    depth: 0,
    parent: -1
  });
  // 0 → 1 (above) and 0 → port → 2 (same height); 3 is separate, below.
  const scene = fromBoxes(
    [
      box(0, 100),
      box(200, 0),
      box(400, 100),
      box(0, 200),
      box(150, 100, BoxKind.Port)
    ],
    [
      { source: 0, target: 1, tensor: 7 },
      { source: 0, target: 4, tensor: 7 },
      { source: 4, target: 2, tensor: 7 }
    ],
    () => -1
  );
  const links = new SceneAdjacency(scene);

  it('follows an edge through ports to the nearest end', () => {
    expect(links.neighbourIn(0, 'right')).toBe(2);
    expect(links.neighbourIn(2, 'left')).toBe(0);
    expect(links.neighbourIn(1, 'left')).toBe(0);
  });

  it('goes to the nearest box without an edge, and stays at the end', () => {
    expect(links.neighbourIn(0, 'down')).toBe(3);
    expect(links.neighbourIn(3, 'up')).toBe(0);
    expect(links.neighbourIn(0, 'left')).toBe(-1);
  });

  it('finds the edges and consumers of a tensor', () => {
    expect([...links.edgesOf(7)]).toEqual([0, 1, 2]);
    expect(links.consumers(7)).toEqual([1, 2]);
    expect(links.consumers(99)).toEqual([]);
  });
});
