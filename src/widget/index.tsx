/** The notebook widget: plain anywidget, so it runs wherever that does. Nothing comes from a CDN. */

import { mount, type IWidgetModel } from './mount';

interface IRenderContext {
  readonly model: IWidgetModel;
  readonly el: HTMLElement;
}

/** Shows the model of the widget in `el`; the answer takes it away again. */
function render({ model, el }: IRenderContext): () => void {
  return mount(model, el);
}

export default { render };
