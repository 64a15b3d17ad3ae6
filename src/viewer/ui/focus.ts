/** The element that has the focus where `node` is: a widget may stand in a shadow tree. */
export function activeIn(node: Node): Element | null {
  const root = node.getRootNode();
  return root instanceof ShadowRoot || root instanceof Document
    ? root.activeElement
    : null;
}
