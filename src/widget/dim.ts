/**
 * A symbolic dimension as a widget: its value follows the dimensions of the model's widget and sets them,
 * entirely in the page, so that linked sliders work without a kernel. Displayed, it is an input for the
 * size.
 */

import {
  resolveModelRef,
  type IManagedModel,
  type IWidgetModel
} from './model';
import { ownValue } from '../core/base/ownValue';

interface IDimContext {
  readonly model: IWidgetModel;
}

const MAX_SIZE = 2 ** 31;

function isSize(value: unknown): value is number {
  return (
    Number.isInteger(value) && Number(value) >= 1 && Number(value) < MAX_SIZE
  );
}

function sizesOf(owner: IManagedModel): Record<string, unknown> {
  const sizes = owner.get('dims');
  return typeof sizes === 'object' && sizes !== null ? { ...sizes } : {};
}

async function initialize({ model }: IDimContext): Promise<() => void> {
  const owner = await resolveModelRef(model, 'owner');
  if (!owner) {
    // If the page cannot link the two, the kernel does.
    return () => undefined;
  }
  const name = String(model.get('name'));
  const sendSizes = (): void => {
    const value = model.get('value');
    const sizes = sizesOf(owner);
    if (isSize(value) && ownValue(sizes, name) !== value) {
      owner.set('dims', { ...sizes, [name]: value });
      owner.save_changes();
    }
  };
  const pull = (): void => {
    const value = ownValue(sizesOf(owner), name);
    if (isSize(value) && model.get('value') !== value) {
      model.set('value', value);
      model.save_changes();
    }
  };
  model.on('change:value', sendSizes);
  owner.on('change:dims', pull);
  return () => {
    model.off('change:value', sendSizes);
    owner.off('change:dims', pull);
  };
}

function render({
  model,
  el
}: IDimContext & { readonly el: HTMLElement }): () => void {
  const label = document.createElement('label');
  const input = document.createElement('input');
  Object.assign(input, { type: 'number', min: '1', step: '1' });
  input.style.width = '8em';
  label.append(`${String(model.get('name'))} `, input);
  el.append(label);
  const show = (): void => {
    input.value = String(model.get('value'));
  };
  input.addEventListener('input', () => {
    const value = input.valueAsNumber;
    if (isSize(value)) {
      model.set('value', value);
      model.save_changes();
    }
  });
  input.addEventListener('change', show);
  model.on('change:value', show);
  show();
  return () => {
    model.off('change:value', show);
    label.remove();
  };
}

export default { initialize, render };
