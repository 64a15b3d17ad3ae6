/** The element that has the focus where `node` is: a widget may stand in a shadow tree. */
export function activeIn(node: Node): Element | null {
  const root = node.getRootNode();
  return root instanceof ShadowRoot || root instanceof Document
    ? root.activeElement
    : null;
}

/** The element that has the focus, wherever it is: of a shadow tree the page only sees the host. */
export function focusedElement(): Element | null {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) {
    at = at.shadowRoot.activeElement;
  }
  return at;
}
