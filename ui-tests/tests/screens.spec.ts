// Reviewed pictures of the first view of real models. To draw them anew: ui-tests/run screens -u

import { expect, graph, open, pick, test } from './pages';

const MODELS = {
  resnet50: 'a convolutional network',
  bert_base: 'an encoder',
  llama_cache: 'a decoder with its cache',
  detr: 'a detector',
  ten_thousand: '10,000 nodes',
  nameless: 'a model without names'
};

test.beforeEach(async ({ page }) => {
  // Before the first style is computed: text is measured once.
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (document.documentElement) {
        observer.disconnect();
        document.documentElement.style.setProperty(
          '--jp-ui-font-family',
          "'Liberation Sans'"
        );
      }
    }).observe(document, { childList: true });
  });
});

for (const [model, title] of Object.entries(MODELS)) {
  for (const theme of ['light', 'dark']) {
    test(`${title}, ${theme}`, async ({ page }) => {
      await open(page, `${model}.onnx`, {
        width: 1280,
        height: 720,
        dark: theme === 'dark'
      });
      if (model === 'resnet50') {
        // With the marks of a selection and its details.
        await pick(page, /^Conv/);
      }
      await expect(graph(page)).not.toHaveClass(/oad-moving/);
      await expect(page).toHaveScreenshot(`${model}-${theme}.png`);
    });
  }
}
