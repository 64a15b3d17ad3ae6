import { expect, it } from 'vitest';
import { buildTree, createGraphView, decodePayload } from '../../../core';
import { PayloadBuilder } from '../../../core/testing/builder';
import { BoxKind } from '../../../core/types';
import { DEFAULT_STRINGS } from '../surfaceApi';
import { CardContents } from '../cards/cardContents';
import { createSizer } from '../cards/cardSizer';
import { boxDescription } from './accessibleNames';
import { BoxColors } from '../style/boxColors';
import { TextMeasure } from '../text/textMeasure';

it('the consumers of a tensor are counted once for all its stubs', async () => {
  const b = new PayloadBuilder();
  let x = b.input('ids');
  const [mask] = b.add('Where', [b.input('attention')], { name: 'mask' });
  for (let i = 0; i < 40; i++) {
    [x] = b.add('Add', [x, mask]);
  }
  b.output(x);
  const model = decodePayload(b.finish());
  const tree = buildTree(model);
  const view = createGraphView(tree, createSizer(model, tree));
  const scene = await view.openInitial(100);
  let reads = 0;
  const consumers = new Proxy(model.consumers, {
    get: (array, key) => {
      reads++;
      return Reflect.get(array, key) as unknown;
    }
  });
  const drawing = {
    scene,
    model: { ...model, consumers },
    tree,
    paint: new BoxColors(scene, model, null),
    cards: new CardContents(model, tree),
    measure: new TextMeasure('12px sans-serif'),
    controls: true
  };
  const stubs = [...scene.boxKind.keys()].filter(
    box => scene.boxKind[box] === BoxKind.Stub
  );
  expect(stubs.length).toBeGreaterThan(30);
  const names = stubs.map(box => boxDescription(drawing, box, DEFAULT_STRINGS));
  expect(new Set(names)).toEqual(
    new Set(['Tensor Where_0_out0, 1×16, from Where mask, to 40 nodes'])
  );
  expect(reads).toBe(40);
});
