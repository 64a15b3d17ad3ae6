/** The notebook widget's viewer: plain anywidget, so it runs wherever that does. Nothing comes from a CDN. */

import type { IWidgetModel } from './model';
import { mount } from './mount';

interface IRenderContext {
  readonly model: IWidgetModel;
  readonly el: HTMLElement;
}

/** Shows the model of the widget in `el`; the answer takes it away again. */
function render({ model, el }: IRenderContext, style: string): () => void {
  return mount(model, el, style);
}

export default { render };
