import type { Session } from '../session/session';
import type { IViewerState } from '../state/types';
import type { ITranslate } from '../i18n/translate';

/** Context in which an action runs. */
export interface IActionContext {
  readonly session: Session;
  /** The viewer's root element, for moving the focus. */
  readonly root: HTMLElement | null;
}

/** Something the user can do by key, button or host command. One per file. */
export interface IAction {
  readonly id: string;
  label(trans: ITranslate): string;
  /** Current label in menus, if it depends on the state. */
  labelNow?(trans: ITranslate, session: Session): string;
  /** Such as `Shift+E`; `Ctrl` also means the Mac's command key. The first one is displayed. */
  readonly keys: readonly string[];
  /** Also works while a text box has the focus. */
  readonly global?: boolean;
  /** If absent, enabled whenever a model is shown. */
  enabled?(state: IViewerState): boolean;
  run(context: IActionContext): void;
}
