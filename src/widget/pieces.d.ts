declare module 'widget-pieces' {
  /** Name → code of a module that names others as `./name`. */
  export const pieces: Readonly<Record<string, string>>;
  /** The piece that shows the widget. */
  export const entry: string;
  /** Of all of them: two versions on one page stay apart. */
  export const version: string;
}
