/** The focused element in the root of `node`: a widget may be in a shadow tree. */
export function activeIn(node: Node): Element | null {
  const root = node.getRootNode();
  return root instanceof ShadowRoot || root instanceof Document
    ? root.activeElement
    : null;
}

/** The focused element, looking into shadow trees, of which the page sees only the host. */
export function focusedElement(): Element | null {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) {
    element = element.shadowRoot.activeElement;
  }
  return element;
}
