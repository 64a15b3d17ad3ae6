// @vitest-environment jsdom
import { fireEvent, screen, within } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { buildTree, decodePayload } from '../../../core';
import { emptyPayload } from '../../../core/testing/builder';
import { resnetPayload } from '../../../core/testing/payloads';
import type { GraphPayload } from '../../../schema';
import { stagesOf } from '../../summary/costStages';
import { factText, panel } from '../../testing/inspector';
import { IDENTITY, testPayload } from '../../testing/payload';
import { guardConsole, mount } from '../../testing/render';
import { IDENTITY as TRANS } from '../../i18n/translate';
import { descriptionLine, reasonsOf } from '../../summary/modelDescription';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

function describedPayload(): GraphPayload {
  const payload = testPayload();
  payload.identity = IDENTITY;
  return payload;
}

test('the line is shown above the graph and described by its reasons', async () => {
  await mount(describedPayload());
  const line = screen.getByRole('button', { name: IDENTITY.text });
  const id = line.getAttribute('aria-describedby')!;
  const reasons = document.getElementById(id)!;
  expect(reasons.textContent).toContain('likely, not certain');
  expect(reasons.textContent).toContain(
    'image input, 8 output values per image'
  );
  expect(reasons.textContent).toContain('12 parameters in float32');
});

test('a click opens the inspector of the model, with roles and findings', async () => {
  const payload = describedPayload();
  payload.risk_signals = [
    {
      id: 'old-opset',
      severity: 'low',
      description: 'Opset 7 is old.',
      nodes: [],
      evidence: {},
      recommendation: 'Convert it.'
    }
  ];
  await mount(payload);
  const close = screen.queryByRole('button', { name: 'Close the inspector' });
  if (close) {
    fireEvent.click(close);
  }
  fireEvent.click(screen.getByRole('button', { name: IDENTITY.text }));
  expect(factText('Task')).toContain('image classification');
  expect(factText('Task')).toContain('likely, not certain');
  expect(factText('Precision')).toBe('float32, not quantized');
  expect(within(panel()).getByText('probably image')).toBeTruthy();
  expect(within(panel()).getByText('role unknown')).toBeTruthy();
  expect(within(panel()).getByText('Opset 7 is old.')).toBeTruthy();
});

test('there is no line without a description', async () => {
  await mount(testPayload());
  expect(document.querySelector('.oad-Words')).toBeNull();
});

test('its shapes follow the current dimensions', () => {
  const payload = describedPayload();
  const { tensors, shapes } = payload;
  const shape = tensors.shape.map((shape, id) =>
    id === tensors.inputs[0] ? shapes.length : shape
  );
  const now: GraphPayload = {
    ...payload,
    tensors: { ...tensors, shape: shape },
    shapes: [...shapes, [4000, 8]]
  };
  expect(descriptionLine(now, IDENTITY)).toBe(
    IDENTITY.text.replace('2×8 →', '4,000×8 →')
  );
  expect(descriptionLine(payload, IDENTITY)).toBe(IDENTITY.text);
});

test('text from a file is shown as text', () => {
  const payload = describedPayload();
  const hostile = { ...IDENTITY, text: 'CNN \u202e(x)', family: '\u202eCNN' };
  expect(descriptionLine(payload, hostile)).toBe('CNN \\u202e(x)');
  expect(reasonsOf(hostile, TRANS)[1].text).toBe('\\u202eCNN');
});

test('stages are the blocks that share the work; blocks with most of it are expanded', () => {
  const tree = buildTree(decodePayload(resnetPayload()));
  const stages = stagesOf(tree, 'macs');
  expect(stages.length).toBeGreaterThan(2);
  expect(stages.length).toBeLessThanOrEqual(12);
  expect(Math.max(...stages.map(({ share }) => share))).toBeLessThan(0.6);
  // None contains another: together they are almost the total, and never more.
  const sum = stages.reduce((total, { share }) => total + share, 0);
  expect(sum).toBeGreaterThan(0.9);
  expect(sum).toBeLessThan(1.000001);
});

test('a model without costs has no stages', () => {
  expect(
    stagesOf(buildTree(decodePayload(emptyPayload('main'))), 'macs')
  ).toEqual([]);
});
