/** A file of the library's tests as its text. */
declare module '*.json?raw' {
  const text: string;
  export default text;
}
