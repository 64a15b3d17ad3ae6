/** Connectors at wires that led to entities which are now hidden. */

import { IntList } from '../../base/csr';
import type { IItemMeasures, IWireTable } from './levelTypes';
import type { IHiddenLink, ILevel } from '../../tree/treeTypes';

/**
 * Wires with a connector at one end, added after all others. A collapsed group has one connector per
 * side.
 */
class HiddenStubBuilder {
  constructor(
    private readonly _level: ILevel,
    private readonly _items: IItemMeasures,
    stubs: Int32Array
  ) {
    stubs.forEach(tensor => this.stubs.push(tensor));
  }

  readonly stubs = new IntList();
  readonly source = new IntList();
  readonly target = new IntList();
  readonly sourcePort = new IntList();
  readonly targetPort = new IntList();
  readonly tensor = new IntList();
  readonly weight = new IntList();

  add({ item, tensor, enters }: IHiddenLink): void {
    const key = `${item} ${enters}`;
    const shared = this._items.closedGroup(item)
      ? this._ofGroup.get(key)
      : undefined;
    if (shared !== undefined) {
      this.weight.set(shared, this.weight.at(shared) + 1);
      return;
    }
    this._ofGroup.set(key, this.source.length);
    const stub = this._level.itemCount + this.stubs.length;
    this.stubs.push(tensor);
    const ports = this._items.ports(item);
    this.source.push(enters ? stub : item);
    this.target.push(enters ? item : stub);
    this.sourcePort.push(enters ? -1 : (ports?.leaving(tensor) ?? -1));
    this.targetPort.push(enters ? (ports?.entering(tensor) ?? -1) : -1);
    this.tensor.push(tensor);
    this.weight.push(1);
  }

  private readonly _ofGroup = new Map<string, number>();
}

function appendInts(a: Int32Array, b: IntList): Int32Array {
  const combined = new Int32Array(a.length + b.length);
  combined.set(a);
  combined.set(b.toArray(), a.length);
  return combined;
}

/** Returns the wires and connectors of a level with those of its hidden links. */
export function addHiddenLinkStubs(
  level: ILevel,
  items: IItemMeasures,
  wires: IWireTable,
  stubs: Int32Array
): { wires: IWireTable; stubs: Int32Array } {
  const cutter = new HiddenStubBuilder(level, items, stubs);
  for (const cut of level.hiddenLinks ?? []) {
    cutter.add(cut);
  }
  const { length } = cutter.source;
  return {
    stubs: cutter.stubs.toArray(),
    wires: {
      source: appendInts(wires.source, cutter.source),
      target: appendInts(wires.target, cutter.target),
      sourcePort: appendInts(wires.sourcePort, cutter.sourcePort),
      targetPort: appendInts(wires.targetPort, cutter.targetPort),
      tensor: appendInts(wires.tensor, cutter.tensor),
      weight: appendInts(wires.weight, cutter.weight),
      // They correspond to no link of the level.
      link: Int32Array.from([
        ...wires.link,
        ...new Array<number>(length).fill(-1)
      ])
    }
  };
}
