/** The translation interface of JupyterLab's bundles; all visible texts use it. */

export interface ITranslate {
  /** `%1`, `%2` … are replaced with the arguments. */
  __(msgid: string, ...args: (string | number)[]): string;
  _n(
    singular: string,
    plural: string,
    count: number,
    ...args: (string | number)[]
  ): string;
}

function fill(text: string, args: readonly (string | number)[]): string {
  return text.replace(/%(\d+)/g, (placeholder, digits: string) => {
    const value = args[Number(digits) - 1];
    return value === undefined ? placeholder : String(value);
  });
}

/** English, as in the source. */
export const IDENTITY: ITranslate = {
  __: (msgid, ...args) => fill(msgid, args),
  _n: (singular, plural, count, ...args) =>
    fill(count === 1 ? singular : plural, [count, ...args])
};
