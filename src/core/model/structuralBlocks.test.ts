import { describe, expect, it } from 'vitest';
import { BlockIndex, blocksOf } from './structuralBlocks';
import { repeatPayload } from '../testing/payloads';

const kind = (name: string) => ({
  kind: name,
  variant: '',
  how: 'structure',
  confidence: 1,
  facts: {}
});

/** Nodes 1–4 contain 2–3; 5 and 7 form another block of the same kind. */
const COLUMNS = {
  what: [0, 1, 0],
  kinds: [kind('residual'), kind('mlp')],
  offsets: [0, 4, 6, 8],
  nodes: [1, 1, 1, 1, 2, 1, 5, 2]
};

describe('structural blocks', () => {
  const blocks = new BlockIndex(COLUMNS, 9);

  it('have nodes, a kind and an index within their kind', () => {
    expect(blocks.count).toBe(3);
    expect([...blocks.nodes(0)]).toEqual([1, 2, 3, 4]);
    expect([...blocks.nodes(2)]).toEqual([5, 7]);
    expect(blocks.kind(1).kind).toBe('mlp');
    expect([0, 1, 2].map(block => blocks.number(block))).toEqual([1, 1, 2]);
  });

  it('are listed per node, the smallest first', () => {
    expect(blocks.of(2)).toEqual([1, 0]);
    expect(blocks.of(6)).toEqual([]);
    expect(blocks.of(7)).toEqual([2]);
  });

  it('are found inside a set of nodes that contains all of theirs', () => {
    expect(blocks.within([1, 2, 3, 4, 5])).toEqual([0, 1]);
    expect(blocks.within([2, 3])).toEqual([1]);
    expect(blocks.within([])).toEqual([]);
  });

  it('ignore nodes that do not exist', () => {
    const invalid = new BlockIndex(
      { ...COLUMNS, nodes: [1, 90, 1, 1, 2, 1, -5, 2] },
      9
    );
    expect(invalid.of(1)).toEqual([0]);
    expect(invalid.of(7)).toEqual([]);
  });

  it('are read once per payload', () => {
    const payload = { ...repeatPayload(2), blocks: COLUMNS };
    expect(blocksOf(payload)).toBe(blocksOf({ ...payload, dims: [] }));
    expect(blocksOf({ ...payload, blocks: null })).toBeNull();
  });
});
