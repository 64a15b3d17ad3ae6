import { beforeEach, describe, expect, it } from 'vitest';
import { decodePayload } from '../model/decodePayload';
import {
  soloPart,
  correspondingEntity,
  userHidden,
  partAt,
  partsOf,
  withPart
} from './repeatParts';
import { repeatPayload } from '../testing/payloads';
import { sceneFaults } from '../testing/sceneFaults';
import { plainSizer } from '../testing/sizer';
import { buildTree } from './groupTree';
import { BoxKind } from '../types';
import { createGraphView } from '../view/graphView';
import type { IGroupTree } from './treeTypes';

const COUNT = 6;
let tree: IGroupTree;
let fold: number;
let nodes: number;

const groupNamed = (label: string, nth = 0): number =>
  tree.groupLabel.flatMap((groupLabel, group) =>
    groupLabel === label ? [group] : []
  )[nth];

beforeEach(() => {
  tree = buildTree(decodePayload(repeatPayload(COUNT)));
  fold = groupNamed(`Layer ×${COUNT}`);
  nodes = tree.model.nodeCount;
});

describe('the instances of a repeat', () => {
  it('are its children, in order', () => {
    const parts = partsOf(tree, fold);
    expect(parts.length).toBe(COUNT);
    expect(partAt(tree, parts[3])).toEqual({ repeatGroup: fold, index: 3 });
    expect(partAt(tree, nodes + fold)).toEqual({
      repeatGroup: fold,
      index: -1
    });
    expect(partAt(tree, nodes + groupNamed('mlp', 2))).toEqual({
      repeatGroup: fold,
      index: 2
    });
    expect(partAt(tree, 0)).toBeNull();
  });

  it('can be shown one at a time without showing other hidden entities', () => {
    const byHand = 0;
    const single = withPart(tree, [byHand], { repeatGroup: fold, index: 2 });
    expect(single.length).toBe(COUNT);
    const isHidden = (entity: number): boolean => single.includes(entity);
    expect(soloPart(tree, fold, isHidden)).toBe(2);
    expect(userHidden(tree, single)).toEqual([byHand]);
    const next = withPart(tree, single, { repeatGroup: fold, index: 5 });
    expect(soloPart(tree, fold, entity => next.includes(entity))).toBe(5);
    expect(withPart(tree, next, { repeatGroup: fold, index: -1 })).toEqual([
      byHand
    ]);
    expect(soloPart(tree, fold, () => false)).toBe(-1);
  });

  it('hidden by the user are reported', () => {
    const parts = [...partsOf(tree, fold)];
    expect(userHidden(tree, parts.slice(0, 2))).toEqual(parts.slice(0, 2));
  });

  it('have corresponding nodes and blocks', () => {
    const parts = partsOf(tree, fold);
    const relu = tree.nodeOrder.findIndex(n => tree.model.opType(n) === 'Relu');
    const counterpart = correspondingEntity(
      tree,
      tree.nodeOrder[relu],
      parts[0],
      parts[4]
    );
    expect(tree.model.opType(counterpart)).toBe('Relu');
    expect(partAt(tree, counterpart)).toEqual({ repeatGroup: fold, index: 4 });
    const mlp = nodes + groupNamed('mlp', 1);
    expect(correspondingEntity(tree, mlp, parts[1], parts[3])).toBe(
      nodes + groupNamed('mlp', 3)
    );
    expect(correspondingEntity(tree, parts[1], parts[1], parts[3])).toBe(
      parts[3]
    );
  });
});

describe('an initial view with a repeat', () => {
  const viewOf = () => createGraphView(tree, plainSizer(tree.model, tree));

  it('shows only the first instance if the model has little else', async () => {
    const view = viewOf();
    const scene = await view.openInitial(40);
    const hidden = new Set(view.hidden());
    expect(view.isOpen(fold)).toBe(true);
    expect(soloPart(tree, fold, entity => hidden.has(entity))).toBe(0);
    expect(view.isOpen(partsOf(tree, fold)[0] - nodes)).toBe(true);
    expect(sceneFaults(scene)).toEqual([]);
    const cards = scene.boxKind.filter(kind => kind <= BoxKind.Group).length;
    expect(cards).toBe(2 + 4);
  });

  it('shows one of very many instances: the first or the revealed one', async () => {
    const many = buildTree(decodePayload(repeatPayload(60)));
    const shownParts = async (action: 'expand' | 'reveal' | 'all') => {
      const view = createGraphView(many, plainSizer(many.model, many));
      const box = many.groupIsRepeat.indexOf(1);
      const revealed = partsOf(many, box)[33];
      await (action === 'reveal'
        ? view.reveal(revealed)
        : view.expand(box, action === 'all'));
      const hidden = new Set(view.hidden());
      return soloPart(many, box, entity => hidden.has(entity));
    };
    expect(await shownParts('expand')).toBe(0);
    expect(await shownParts('reveal')).toBe(33);
    expect(await shownParts('all')).toBe(-1);
  });

  it('shows the instance of a revealed node instead', async () => {
    const view = viewOf();
    await view.openInitial(40);
    const parts = partsOf(tree, fold);
    const revealed = nodes + groupNamed('mlp', 4);
    const scene = await view.reveal(revealed);
    const hidden = new Set(view.hidden());
    expect(soloPart(tree, fold, entity => hidden.has(entity))).toBe(4);
    expect(scene.boxEntity[scene.boxOf(revealed)]).toBe(revealed);
    expect(scene.boxEntity[scene.boxOf(parts[0])]).toBe(nodes + fold);
    expect(sceneFaults(scene)).toEqual([]);
  });
});
