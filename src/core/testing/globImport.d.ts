/** Files by a pattern, as the test runner gives them. */
interface ImportMeta {
  glob(pattern: string, options: object): Record<string, string>;
}
