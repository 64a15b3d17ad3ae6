/**
 * The value of a record under a name, undefined if it has none. `record[name]` also finds what every object
 * inherits: a function for `constructor` or `toString`, an object for `__proto__`. Names come from models, so a
 * record is never indexed by one; `src/records.test.ts` checks that.
 */
export function ownValue<T>(
  record: Readonly<Record<string, T>>,
  name: string
): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
