import { focusedElement } from './focus';

/** Copies text to the clipboard. Returns false if the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages served over plain http have no clipboard API.
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const before = focusedElement();
  const box = document.createElement('textarea');
  box.value = text;
  box.setAttribute('readonly', '');
  box.style.position = 'fixed';
  box.style.opacity = '0';
  document.body.append(box);
  box.select();
  // Deprecated, but the only way without a secure context.
  const isCopied =
    typeof document.execCommand === 'function' && document.execCommand('copy');
  box.remove();
  if (before instanceof HTMLElement) {
    before.focus();
  }
  return isCopied;
}
