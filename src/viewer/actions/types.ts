import type { Session } from '../session/session';
import type { IViewerState } from '../state/types';
import type { ITranslate } from '../i18n/translate';

/** What an action may act on. */
export interface IActionContext {
  readonly session: Session;
  /** The viewer's root element, for moving the focus. */
  readonly root: HTMLElement | null;
}

/** Something the user can do, by key, button or host command alike. One a file. */
export interface IAction {
  readonly id: string;
  label(trans: ITranslate): string;
  /** What it does now, where that depends: for menus. */
  labelNow?(trans: ITranslate, session: Session): string;
  /** Like `Shift+E`; `Ctrl` is also the Mac's command key. The first is the one to show. */
  readonly keys: readonly string[];
  /** Works while a text box has the focus. */
  readonly global?: boolean;
  /** Absent: whenever a model is shown. */
  enabled?(state: IViewerState): boolean;
  run(context: IActionContext): void;
}
