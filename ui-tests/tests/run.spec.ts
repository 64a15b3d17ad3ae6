// The Run tab on a real server: times from elsewhere dropped on the graph, and a model verified.

import { expect } from '@playwright/test';
import type { Locator } from '@playwright/test';
import { openModel, test } from './helpers';

/** Drops files of the user's own on the picture. */
async function drop(
  view: Locator,
  files: Readonly<Record<string, string>>
): Promise<void> {
  const graph = view.locator('.oad-GraphHost');
  const data = await view.page().evaluateHandle(texts => {
    const transfer = new DataTransfer();
    for (const [name, text] of Object.entries(texts)) {
      transfer.items.add(new File([text], name));
    }
    return transfer;
  }, files);
  await graph.dispatchEvent('dragenter', { dataTransfer: data });
  await expect(async () => {
    await graph.dispatchEvent('dragover', { dataTransfer: data });
    await expect(view.locator('.oad-Viewer[data-drop]')).toBeVisible({
      timeout: 500
    });
  }).toPass();
  await graph.dispatchEvent('drop', { dataTransfer: data });
}

test('a profile dropped on the graph colours it and lists the entries that match no node', async ({
  page
}) => {
  const view = await openModel(page, 'digits_cnn.onnx');
  await drop(view, {
    'times.csv': 'name,ms\nrelu_1,0.6\nlogits,0.2\nelsewhere,0.2\n'
  });
  const table = view.getByRole('table', { name: /^Kernels/ });
  await expect(table).toBeVisible({ timeout: 60_000 });
  await expect(view.locator('.oad-Legend')).toContainText('Measured latency');
  await expect(table.getByRole('row')).toHaveCount(4);
  await expect(table.getByRole('row').last()).toContainText(
    'elsewhereno node200 µs20.0 %'
  );
  await expect(view.getByText(/20.0 % of the time/)).toBeVisible();
  await table.getByRole('button').first().click();
  await expect(view.locator('.oad-Inspector')).toContainText('Relu');

  await drop(view, { 'times.json': '{"of another model": 1}' });
  await expect(view.getByRole('alert')).toContainText('another model');
});

test('a model is verified against its original on the same samples', async ({
  page
}) => {
  const view = await openModel(page, 'digits_cnn.onnx');
  await view.getByRole('tab', { name: 'Quantize' }).click();
  await view.getByRole('textbox', { name: 'Samples' }).fill('digits.npz');
  await view.getByRole('textbox', { name: 'File' }).fill('verified.onnx');
  await view.getByRole('button', { name: 'Quantize', exact: true }).click();
  const verify = view.getByRole('button', { name: 'Verify against this' });
  await verify.click({ timeout: 60_000 });
  const otherPanel = page.locator('.oad-LabPanel:visible').last();
  const table = otherPanel.getByRole('table', { name: /^Layers compared/ });
  await expect(table).toBeVisible({ timeout: 60_000 });
  await expect(otherPanel.locator('.oad-Legend')).toContainText(
    'Relative error'
  );
  await expect(
    otherPanel.getByText(/^verified.onnx agrees with/)
  ).toBeVisible();
  await expect(
    otherPanel.getByRole('textbox', { name: 'Reference' })
  ).toHaveValue('/digits_cnn.onnx');
});
