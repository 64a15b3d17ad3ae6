/** Replaces `%1` in the sentence with the value. */
export function fillTemplate(sentence: string, value: string): string {
  return sentence.replace('%1', () => value);
}
