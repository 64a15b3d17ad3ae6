import { defineConfig } from 'vitest/config';

const common = {
  environment: 'node',
  // Style sheets are what they are: colours are read from one.
  css: true,
  // Fuzz tests on a busy machine; no test asserts time.
  testTimeout: 60_000
};

export default defineConfig({
  test: {
    projects: [
      {
        // Core has neither a DOM nor a state that outlives a test: its files share what they import.
        test: {
          ...common,
          name: 'core',
          isolate: false,
          include: ['src/core/**/*.test.ts']
        }
      },
      {
        // A test that needs a DOM says `// @vitest-environment jsdom` in its first line.
        test: {
          ...common,
          name: 'viewer',
          include: ['src/**/*.test.{ts,tsx}'],
          exclude: ['src/core/**']
        }
      }
    ]
  }
});
