import * as React from 'react';
import { ownValue } from '../../core/base/ownValue';

const CONTROLS =
  'button, input:not([type=hidden]), select, textarea, a[href], [tabindex]';
/** Popups over the group have their own keys and tab stops. */
const POPUP = '.oad-Export-list, [role=menu], [role=dialog]';

function focusableControls(group: HTMLElement): HTMLElement[] {
  return [...group.querySelectorAll<HTMLElement>(CONTROLS)].filter(
    control => !control.closest(POPUP)
  );
}

function canFocus(control: HTMLElement): boolean {
  return !control.matches(':disabled') && (control.checkVisibility?.() ?? true);
}

/** True if the key moves within a text input. */
function isInText(target: EventTarget, step: number): boolean {
  if (!(target instanceof HTMLInputElement) || target.type !== 'text') {
    return false;
  }
  const { selectionStart, selectionEnd, value } = target;
  const edge = step < 0 ? 0 : value.length;
  return selectionStart !== edge || selectionEnd !== edge;
}

/**
 * Roving tabindex: one Tab stop for all controls of a toolbar. Arrow keys move between them, and Tab
 * returns to the last focused one.
 */
export function useRoving(group: React.RefObject<HTMLElement>): void {
  React.useLayoutEffect(() => {
    const element = group.current;
    if (!element) {
      return undefined;
    }
    let current: HTMLElement | null = null;
    const sync = (): void => {
      const controls = focusableControls(element);
      if (!current || !controls.includes(current) || !canFocus(current)) {
        current = controls.find(canFocus) ?? null;
      }
      for (const control of controls) {
        const index = control === current ? 0 : -1;
        // A control without the attribute is a tab stop too.
        if (control.getAttribute('tabindex') !== String(index)) {
          control.tabIndex = index;
        }
      }
    };
    const onFocus = (event: FocusEvent): void => {
      const { target } = event;
      if (
        target instanceof HTMLElement &&
        focusableControls(element).includes(target)
      ) {
        current = target;
        sync();
      }
    };
    const onKey = (event: KeyboardEvent): void => {
      const step = ownValue({ ArrowLeft: -1, ArrowRight: 1 }, event.key);
      const controls = focusableControls(element).filter(canFocus);
      const index = controls.findIndex(control => control === event.target);
      if (
        step === undefined ||
        index < 0 ||
        event.altKey ||
        event.ctrlKey ||
        event.metaKey ||
        event.shiftKey ||
        isInText(controls[index], step)
      ) {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      controls[(index + step + controls.length) % controls.length].focus();
    };
    sync();
    element.addEventListener('focusin', onFocus);
    element.addEventListener('keydown', onKey);
    // Controls are added, removed and disabled without a render of this component.
    const observer = new MutationObserver(sync);
    observer.observe(element, {
      subtree: true,
      childList: true,
      attributeFilter: ['disabled']
    });
    return () => {
      element.removeEventListener('focusin', onFocus);
      element.removeEventListener('keydown', onKey);
      observer.disconnect();
    };
  }, [group]);
}
