/** Puts the value where the sentence says `%1`. */
export function fill(sentence: string, value: string): string {
  return sentence.replace('%1', () => value);
}
