// @vitest-environment jsdom
import { expect, it } from 'vitest';
import { withMetricsOf } from '../../../core/model/decodePayload';
import { buildTree } from '../../../core/tree/groupTree';
import {
  host,
  model,
  onSurface,
  show,
  surface,
  tree,
  view
} from '../testing/drawn';
import { encoderPayload } from '../testing/payload';

onSurface();

const labels = (): (string | null)[] =>
  [...host.querySelectorAll('.oad-labels text')].map(text => text.textContent);

it('labels of edges follow the current dimensions', async () => {
  await show(encoderPayload(2));
  const before = labels();
  expect(before.some(text => text?.startsWith('1×'))).toBe(true);
  const shapes = model.payload.shapes.map(
    shape => shape && shape.map((size, axis) => (axis === 0 ? 7 : size))
  );
  const other = withMetricsOf(model, { ...model.payload, shapes });
  surface.setScene(view.scene, other, buildTree(other));
  expect(labels().some(text => text?.startsWith('7×'))).toBe(true);
  expect(labels().some(text => text?.startsWith('1×'))).toBe(false);
  surface.setScene(view.scene, model, tree);
  expect(labels().sort()).toEqual(before.sort());
});
