import { describe, expect, test } from 'vitest';
import { readSnapshot, SNAPSHOT_VERSION } from './snapshot';
import { DEFAULT_PANELS } from './types';

const NONE = { version: SNAPSHOT_VERSION };

describe('readSnapshot', () => {
  test.each([
    null,
    undefined,
    7,
    'x',
    [],
    {},
    { version: 99, overlay: 'macs' },
    { version: 1, overlay: 'nonsense', camera: { x: NaN, y: 0, k: 1 } },
    { version: 1, selection: { kind: 'node', id: -3 }, panels: null }
  ])('reads nothing from %j', value => {
    expect(readSnapshot(value)).toEqual(NONE);
  });

  test('keeps valid fields and drops the rest', () => {
    const snapshot = readSnapshot({
      version: 1,
      overlay: null,
      panels: {
        outline: 'open',
        inspector: 'sideways',
        tab: 'x',
        drawer: 1,
        outlineWidth: 1e9
      },
      bindings: { a: 3, b: -1, c: 1.5, d: 'x' },
      bookmarks: { 1: { x: 1, y: 2, k: 3 }, 2: {} },
      open: ['p', 4]
    });
    expect(snapshot).toEqual({
      version: 1,
      overlay: null,
      panels: { ...DEFAULT_PANELS, outline: 'open' },
      bindings: { a: 3 },
      bookmarks: { 1: { x: 1, y: 2, k: 3 } },
      open: ['p']
    });
  });

  test('converts the former flag to a scale; a scale takes precedence', () => {
    expect(readSnapshot({ version: 1, logScale: true }).scale).toBe('log');
    expect(readSnapshot({ version: 1, logScale: false }).scale).toBe('linear');
    expect(
      readSnapshot({ version: 1, logScale: true, scale: 'rank' }).scale
    ).toBe('rank');
    expect(readSnapshot({ version: 1, scale: 'cubic' })).toEqual(NONE);
  });

  test('keeps valid fields of saved views', () => {
    const view = { x: 1, y: 2, k: 3, open: ['a', 7], overlay: 'macs', z: 1 };
    expect(
      readSnapshot({ version: 1, bookmarks: { 1: view, 2: { x: 1 } } })
    ).toEqual({
      version: 1,
      bookmarks: { 1: { x: 1, y: 2, k: 3, open: ['a'], overlay: 'macs' } }
    });
    const complete = {
      x: 1,
      y: 2,
      k: 3,
      scale: 'log',
      hidden: { of: 'sha', ranges: [4, 6] }
    };
    const hostile = {
      ...complete,
      scale: 'cubic',
      hidden: { of: 'sha', ranges: [6] }
    };
    const bookmarks = { 1: complete, 2: hostile };
    expect(readSnapshot({ version: 1, bookmarks }).bookmarks).toEqual({
      1: complete,
      2: { x: 1, y: 2, k: 3 }
    });
  });

  test.each([
    [[0, 3, 7, 7], true],
    [[0, 3, 7], false],
    [[3, 0], false],
    [[-1, 0], false],
    [[0.5, 1], false],
    [new Array(30_000).fill(1), false],
    ['01', false]
  ])('reads hidden ranges %j: %s', (ranges, valid) => {
    const hidden = { of: 'sha256:0', ranges };
    const snapshot = readSnapshot({ version: 1, hidden });
    expect(snapshot).toEqual(valid ? { ...NONE, hidden } : NONE);
  });

  test('ignores a key __proto__', () => {
    const text = '{"version": 1, "bindings": {"__proto__": 5}}';
    const { bindings } = readSnapshot(JSON.parse(text));
    expect(Object.keys(bindings ?? {})).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(bindings)).toBe(Object.prototype);
  });
});
