/** Downloads files. */

/** Milliseconds that the browser has to start reading the file. */
const REVOKE_DELAY_MS = 60_000;

/** Characters that file systems reject in a name, or that could lead out of the folder. */
// eslint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u001f\u007f<>:"/\\|?*]+/g;
const MAX_NAME_CHARS = 120;

/** Combines `name`, a suffix and an extension into a safe file name. */
export function fileName(name: string, suffix: string): string {
  const safe = name
    .replace(UNSAFE, '_')
    .replace(/^[.\s]+/, '')
    .slice(0, MAX_NAME_CHARS);
  return `${safe || 'model'}${suffix}`;
}

/** Starts a download; works in JupyterLab, notebooks and files opened from disk. */
export function saveFile(name: string, data: Blob): void {
  const url = URL.createObjectURL(data);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.style.display = 'none';
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_DELAY_MS);
}
