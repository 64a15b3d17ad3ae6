const base = require('@jupyterlab/galata/lib/playwright-config');
const chromium = require('./chromium');

const port = process.env.AUTODOC_UI_PORT ?? '18888';
const baseURL = `http://localhost:${port}`;
// The one-file page needs no server: AUTODOC_UI_LAB=0 runs its tests without one.
const lab = process.env.AUTODOC_UI_LAB !== '0';

module.exports = {
  ...base,
  testDir: 'tests',
  timeout: 120000,
  expect: {
    timeout: 30000,
    // Letters may be drawn a little otherwise by another Chromium; a missing card is more than that.
    toHaveScreenshot: { maxDiffPixelRatio: 0.005, threshold: 0.3 }
  },
  // One picture for every machine: the pages choose a font that is installed with Chromium.
  snapshotPathTemplate: '{testDir}/screens/{arg}{ext}',
  workers: 2,
  // A browser on a busy machine: what passes on a later try is listed as flaky.
  retries: process.env.CI ? 2 : 0,
  reporter: [['list']],
  use: {
    ...base.use,
    baseURL,
    trace: 'off',
    actionTimeout: 30000,
    video: 'off',
    viewport: { width: 1400, height: 900 },
    launchOptions: chromium
  },
  webServer: lab && {
    command: 'jlpm start',
    url: `${baseURL}/lab`,
    timeout: 180000,
    reuseExistingServer: false,
    env: { ...process.env, AUTODOC_UI_PORT: port },
    stdout: 'ignore',
    stderr: 'ignore'
  }
};
