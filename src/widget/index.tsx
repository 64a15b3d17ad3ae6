/**
 * The viewer of the notebook widget: plain anywidget, so it runs wherever anywidget does. Nothing is
 * loaded from a CDN.
 */

import type { IWidgetModel } from './model';
import { mount } from './mount';

interface IRenderContext {
  readonly model: IWidgetModel;
  readonly el: HTMLElement;
}

/** Shows the widget's model in `el`; the returned function removes it. */
function render({ model, el }: IRenderContext, style: string): () => void {
  return mount(model, el, style);
}

export default { render };
