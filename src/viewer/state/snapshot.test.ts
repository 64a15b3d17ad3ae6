import { describe, expect, test } from 'vitest';
import { readSnapshot, SNAPSHOT_VERSION } from './snapshot';
import { DEFAULT_PANELS } from './types';

const NONE = { version: SNAPSHOT_VERSION };

describe('reading a snapshot back', () => {
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
  ])('%j holds nothing', value => {
    expect(readSnapshot(value)).toEqual(NONE);
  });

  test('keeps what is sound and drops the rest', () => {
    const found = readSnapshot({
      version: 1,
      overlay: null,
      panels: {
        outline: 'open',
        inspector: 'sideways',
        tab: 'x',
        drawer: 1,
        outlineWidth: 1e9
      },
      bindings: { a: 3, b: 0, c: 1.5, d: 'x' },
      bookmarks: { 1: { x: 1, y: 2, k: 3 }, 2: {} },
      open: ['p', 4]
    });
    expect(found).toEqual({
      version: 1,
      overlay: null,
      panels: { ...DEFAULT_PANELS, outline: 'open' },
      bindings: { a: 3 },
      bookmarks: { 1: { x: 1, y: 2, k: 3 } },
      open: ['p']
    });
  });

  test('a key called __proto__ pollutes nothing', () => {
    const text = '{"version": 1, "bindings": {"__proto__": 5}}';
    const { bindings } = readSnapshot(JSON.parse(text));
    expect(Object.keys(bindings ?? {})).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(bindings)).toBe(Object.prototype);
  });
});
