declare module 'inline-worker:*' {
  /** A worker's whole code. */
  const text: string;
  export default text;
}
