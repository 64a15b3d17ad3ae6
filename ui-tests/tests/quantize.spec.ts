// The Quantize tab on a real server: layers ranked, one kept in float, a file written and opened.

import { expect } from '@playwright/test';
import { openModel, test } from './helpers';

test('layers are ranked, the model is quantized and compared', async ({
  page,
  log
}) => {
  const view = await openModel(page, 'digits_cnn.onnx');
  await view.getByRole('tab', { name: 'Quantize' }).click();
  await view.getByRole('textbox', { name: 'Samples' }).fill('digits.npz');
  await view.getByRole('button', { name: 'Measure latency' }).click();
  await expect(view.locator('.oad-Legend')).toContainText('Measured latency', {
    timeout: 60_000
  });
  await view.getByRole('button', { name: 'Rank layers' }).click();
  const table = view.getByRole('table', { name: /^Layers/ });
  await expect(table).toBeVisible({ timeout: 60_000 });
  await expect(view.locator('.oad-Legend')).toContainText('Error');
  await table.getByRole('checkbox').first().check();
  await expect(view.getByText('1 layer stays float')).toBeVisible();
  await view.getByRole('button', { name: 'Quantize', exact: true }).click();
  const open = view.getByRole('button', { name: 'Open digits_cnn_int8.onnx' });
  await expect(open).toBeVisible({ timeout: 60_000 });
  await view.getByRole('button', { name: 'Compare with this model' }).click();
  await expect(page.getByRole('group', { name: 'Linked view' })).toHaveCount(2);
  expect(log.errors).toEqual([]);
  expect(log.foreign).toEqual([]);
});
