import { defineConfig } from 'vitest/config';

// Core needs no DOM; a test that does says `// @vitest-environment jsdom` in its first line.
export default defineConfig({
  test: {
    environment: 'node',
    include: ['src/**/*.test.{ts,tsx}']
  }
});
