/**
 * Values of the settings file, before validation. JupyterLab validates a file when its editor saves it,
 * not when it is read: one written by hand or by another version may hold anything.
 */
import { ownValue } from '../../core/base/ownValue';

export interface IValues {
  readonly [key: string]: unknown;
}

/** Reads values and collects their problems, one sentence each. */
export class SettingsReader {
  constructor(private readonly _values: IValues) {}

  readonly problems: string[] = [];

  /** Trimmed text. */
  text(key: string): string {
    return this._value(key, '', value => typeof value === 'string').trim();
  }

  flag(key: string, fallback: boolean): boolean {
    return this._value(key, fallback, value => typeof value === 'boolean');
  }

  choice<T extends string>(key: string, choices: readonly T[], fallback: T): T {
    return this._value(key, fallback, value => choices.includes(value as T));
  }

  integer(key: string, min: number, max: number, fallback: number): number {
    return this._value(
      key,
      fallback,
      value =>
        Number.isInteger(value) &&
        (value as number) >= min &&
        (value as number) <= max
    );
  }

  /** An object; not a list. */
  record(key: string): Record<string, unknown> {
    return this._value(
      key,
      {},
      value =>
        typeof value === 'object' && value !== null && !Array.isArray(value)
    );
  }

  private _value<T>(
    key: string,
    fallback: T,
    isValid: (value: unknown) => boolean
  ): T {
    const value = ownValue(this._values, key);
    if (value === undefined) {
      return fallback;
    }
    if (!isValid(value)) {
      this.problems.push(
        `“${key}” cannot be ${JSON.stringify(value)}; the default is used.`
      );
      return fallback;
    }
    return value as T;
  }
}
