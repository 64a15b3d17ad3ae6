declare module '*.css' {
  /** A style sheet as text. */
  const text: string;
  export default text;
}
