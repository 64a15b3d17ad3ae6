import { defineConfig } from 'vitest/config';

// Core needs no DOM; a test that does says `// @vitest-environment jsdom` in its first line.
export default defineConfig({
  test: {
    environment: 'node',
    include: ['src/**/*.test.{ts,tsx}'],
    // Style sheets are what they are: colours are read from one.
    css: true,
    // Fuzz tests on a busy machine; no test asserts time.
    testTimeout: 60_000
  }
});
