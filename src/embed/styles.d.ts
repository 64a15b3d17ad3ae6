declare module '*.css' {
  /** A style sheet as text. */
  const text: string;
  export default text;
}

declare module '*.css?raw' {
  /** The same, as the test runner wants it asked for. */
  const text: string;
  export default text;
}
