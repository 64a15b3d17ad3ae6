// Tags of an exported model: in the inspector, in the outline and in search.

import { expect, graph, open, reveal, test } from './pages';

const SCOPE = 'm.resnet.encoder.stages.0.layers.0.layer.0';

test('a scope can be searched, and the inspector shows its tag and origins', async ({
  page
}) => {
  await open(page, 'tagged.onnx');
  const search = page.getByRole('textbox', { name: 'Find in the model' });
  await search.fill(`scope=${SCOPE}.normalization`);
  await search.press('Enter');
  await expect(page.locator('.oad-Search-count')).toHaveText('1/1');
  const inspector = page.locator('.oad-Inspector');
  const factRow = (label: string) =>
    inspector.locator('.oad-Fact', {
      has: page.getByText(label, { exact: true })
    });
  await expect(factRow('Tag')).toContainText('/ResNetConvLayer.0');
  // The weight is the convolution's: the merged norm is only an origin.
  await expect(factRow('Scope')).toContainText(`${SCOPE}.convolution`);
  await expect(factRow('Source')).toContainText('merged from several modules');
  await expect(factRow('Made from').getByRole('listitem')).toHaveText([
    `${SCOPE}.convolution`,
    `${SCOPE}.normalization`
  ]);
});

test('a tag can be searched with a glob, and the outline has its levels', async ({
  page
}) => {
  await open(page, 'tagged.onnx', { width: 1900 });
  await reveal(page, 'tag=*/ResNetStage.1/*BottleNeckLayer.0/* & op=Conv');
  await expect(page.locator('.oad-Inspector')).toContainText('ResNetStage.1');
  const outline = page.getByRole('tree');
  await expect(
    outline.getByRole('treeitem', { name: /ResNetModel/ }).first()
  ).toBeVisible();
  await expect(graph(page)).toContainText('ResNetEncoder');
});
