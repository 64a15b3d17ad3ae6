import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const common = {
  environment: 'node',
  // Style sheets are what they are: colours are read from one.
  css: true,
  // Fuzz tests on a busy machine; no test asserts time.
  testTimeout: 60_000,
  // As with the browser tests, one that fails on CI runs a second time, and the output says so.
  retry: process.env.CI ? 1 : 0
};

/**
 * With whom a file of tests may share the modules it imports, which is half the time of a run: those
 * that replace no module, those that replace the same two, nobody.
 */
function company(path) {
  const text = readFileSync(path, 'utf8');
  const mocks = Array.from(
    text.matchAll(/vi\.mock\(\s*'([^']+)'/g),
    ([, name]) => name.split('/').slice(-2).join('/')
  );
  if (text.includes('vi.stubGlobal') || text.includes('vi.spyOn')) {
    return 'alone';
  }
  if (!mocks.length) {
    return 'plain';
  }
  const faked = mocks.sort().join();
  return faked === 'cards/cardSizer,graph/surface' ? 'panels' : 'alone';
}

const viewer = readdirSync('src', { recursive: true })
  .map(path => `src/${path.replaceAll('\\', '/')}`)
  .filter(path => /\.test\.tsx?$/.test(path) && !path.startsWith('src/core/'));
const shared = (name, include) => ({
  test: { ...common, name, isolate: false, include }
});
const within = name => viewer.filter(path => company(path) === name);

// A test that needs a DOM says `// @vitest-environment jsdom` in its first line.
export default defineConfig({
  test: {
    // What was compiled once is kept on disk: a fifth of a run.
    experimental: { fsModuleCache: true },
    // By default one core is left idle.
    maxWorkers: availableParallelism(),
    projects: [
      // Core has neither a DOM nor a state that outlives a test.
      shared('core', ['src/core/**/*.test.ts']),
      shared('plain', within('plain')),
      shared('panels', within('panels')),
      { test: { ...common, name: 'alone', include: within('alone') } }
    ]
  }
});
