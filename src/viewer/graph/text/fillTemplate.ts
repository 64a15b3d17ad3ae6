/** Puts the value where the sentence says `%1`. */
export function fillTemplate(sentence: string, value: string): string {
  return sentence.replace('%1', () => value);
}
