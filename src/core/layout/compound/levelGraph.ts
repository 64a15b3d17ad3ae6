/** Turns a level into layout input: links become wires, long ones become connectors. */

import { IntList } from '../../base/csr';
import { addHiddenLinkStubs } from './hiddenLinkStubs';
import { PANEL } from './layoutMetrics';
import { selectStubbedWires } from './stubSelection';
import { PIN } from '../layered/layoutTypes';
import type { ILayoutInput } from '../layered/layoutTypes';
import type { IItemMeasures, IWireTable, IAssembly } from './levelTypes';
import type { ILevel } from '../../tree/treeTypes';

/** Joins links with the same ends: between collapsed items, one wire stands for several tensors. */
function joinLinks(level: ILevel, items: IItemMeasures): IWireTable {
  const links = level.linkSource.length;
  const table = {
    source: new Int32Array(links),
    target: new Int32Array(links),
    sourcePort: new Int32Array(links),
    targetPort: new Int32Array(links),
    tensor: new Int32Array(links),
    weight: new Int32Array(links),
    link: new Int32Array(links)
  };
  const itemByKey = new Map<string | number, number>();
  const children = Array.from(level.children, (_, item) => items.ports(item));
  let count = 0;
  for (let l = 0; l < links; l++) {
    const [s, t] = [level.linkSource[l], level.linkTarget[l]];
    const tensor = level.linkTensor[l];
    const leave = children[s]?.leaving(tensor) ?? -1;
    const enter = children[t]?.entering(tensor) ?? -1;
    const isSimple = leave < 0 && enter < 0;
    const key = isSimple ? s * 2 ** 26 + t : `${s} ${leave} ${t} ${enter}`;
    const wire = itemByKey.get(key);
    if (wire !== undefined) {
      table.weight[wire] += level.linkWeight[l];
      continue;
    }
    itemByKey.set(key, count);
    table.source[count] = s;
    table.target[count] = t;
    table.sourcePort[count] = leave;
    table.targetPort[count] = enter;
    table.tensor[count] = tensor;
    table.link[count] = l;
    table.weight[count++] = level.linkWeight[l];
  }
  return count === links ? table : withStubs(table, count);
}

function withStubs(table: IWireTable, count: number): IWireTable {
  return {
    source: table.source.slice(0, count),
    target: table.target.slice(0, count),
    sourcePort: table.sourcePort.slice(0, count),
    targetPort: table.targetPort.slice(0, count),
    tensor: table.tensor.slice(0, count),
    weight: table.weight.slice(0, count),
    link: table.link.slice(0, count)
  };
}

/**
 * Adds a connector for each long wire (one for all wires of a collapsed group), and one at the source of
 * its tensor.
 */
class StubInserter {
  constructor(level: ILevel, items: IItemMeasures, wires: IWireTable) {
    this._level = level;
    this._items = items;
    this._wires = wires;
  }

  readonly stubs = new IntList();

  apply(stubbed: Uint8Array): IWireTable {
    const { source, target, weight, tensor } = this._wires;
    for (let e = 0; e < source.length; e++) {
      if (!stubbed[e]) {
        this._keep(e);
        continue;
      }
      if (source[e] < this._level.children.length) {
        this._addStart(e);
      }
      const shared = this._items.closedGroup(target[e])
        ? this._stubOfGroup.get(target[e])
        : undefined;
      if (shared !== undefined) {
        this._weight.set(shared, this._weight.at(shared) + weight[e]);
        continue;
      }
      this._stubOfGroup.set(target[e], this._source.length);
      const stub = this._newStub(tensor[e]);
      this._push(stub, target[e], -1, this._wires.targetPort[e], e);
    }
    return {
      source: this._source.toArray(),
      target: this._target.toArray(),
      sourcePort: this._sourcePort.toArray(),
      targetPort: this._targetPort.toArray(),
      tensor: this._tensor.toArray(),
      weight: this._weight.toArray(),
      link: this._link.toArray()
    };
  }

  private _keep(e: number): void {
    const { source, target, sourcePort, targetPort } = this._wires;
    this._push(source[e], target[e], sourcePort[e], targetPort[e], e);
  }

  /** Adds the connector at the tensor's source, once. */
  private _addStart(e: number): void {
    const { source, sourcePort, tensor } = this._wires;
    if (!this._started.has(tensor[e])) {
      this._started.add(tensor[e]);
      const stub = this._newStub(tensor[e]);
      this._push(source[e], stub, sourcePort[e], -1, e);
      this._weight.set(this._weight.length - 1, 1);
    }
  }

  private _newStub(tensor: number): number {
    this.stubs.push(tensor);
    return this._level.itemCount + this.stubs.length - 1;
  }

  private _push(
    source: number,
    target: number,
    sourcePort: number,
    targetPort: number,
    e: number
  ): void {
    this._source.push(source);
    this._target.push(target);
    this._sourcePort.push(sourcePort);
    this._targetPort.push(targetPort);
    this._tensor.push(this._wires.tensor[e]);
    this._weight.push(this._wires.weight[e]);
    this._link.push(this._wires.link[e]);
  }

  private readonly _level: ILevel;
  private readonly _items: IItemMeasures;
  private readonly _wires: IWireTable;
  private readonly _stubOfGroup = new Map<number, number>();
  private readonly _started = new Set<number>();
  private readonly _source = new IntList();
  private readonly _target = new IntList();
  private readonly _sourcePort = new IntList();
  private readonly _targetPort = new IntList();
  private readonly _tensor = new IntList();
  private readonly _weight = new IntList();
  private readonly _link = new IntList();
}

/**
 * Weight that makes the main path begin at its port rather than at a table computed in the level; see
 * pathImportance.ts.
 */
const MAIN_PORT = 2;

/** The items' sizes and the wires as layout input. */
function layoutInput(
  level: ILevel,
  items: IItemMeasures,
  wires: IWireTable,
  stubs: Int32Array
): ILayoutInput {
  const itemCount = level.itemCount + stubs.length;
  const width = new Float64Array(itemCount);
  const height = new Float64Array(itemCount);
  const pin = new Int8Array(itemCount);
  const importance = new Float64Array(itemCount);
  const firstOut = level.itemCount - level.portsOut.length;
  const firstIn = firstOut - level.portsIn.length;
  for (let item = 0; item < itemCount; item++) {
    const isPort = item >= firstIn && item < level.itemCount;
    const size = isPort
      ? { w: PANEL.port, h: PANEL.port }
      : item < level.itemCount
        ? items.size(item)
        : items.stub(stubs[item - level.itemCount]);
    width[item] = size.w;
    height[item] = size.h;
    if (item < level.children.length) {
      importance[item] = items.importance(item);
    } else if (item === items.mainPort) {
      importance[item] = MAIN_PORT;
    }
    if (isPort) {
      pin[item] = item < firstOut ? PIN.first : PIN.last;
    }
  }
  return {
    itemCount,
    width,
    height,
    pin,
    importance,
    source: wires.source,
    target: wires.target,
    ...portOffsets(items, wires),
    trunk: localTrunks(wires.tensor)
  };
}

/** Positions where wires meet the ports of open children. */
function portOffsets(items: IItemMeasures, wires: IWireTable) {
  const count = wires.source.length;
  const sourceOffset = new Float64Array(count);
  const targetOffset = new Float64Array(count);
  for (let e = 0; e < count; e++) {
    const [leave, enter] = [wires.sourcePort[e], wires.targetPort[e]];
    if (leave >= 0) {
      const ports = items.ports(wires.source[e]);
      sourceOffset[e] = ports?.leaveOffset[leave] ?? 0;
    }
    if (enter >= 0) {
      const ports = items.ports(wires.target[e]);
      targetOffset[e] = ports?.enterOffset[enter] ?? 0;
    }
  }
  return { sourceOffset, targetOffset };
}

/** Tensors numbered by first use, so that equal blocks have equal inputs. */
function localTrunks(tensor: Int32Array): Int32Array {
  const ids = new Map<number, number>();
  const trunk = new Int32Array(tensor.length);
  for (let e = 0; e < tensor.length; e++) {
    let id = ids.get(tensor[e]);
    if (id === undefined) {
      id = ids.size;
      ids.set(tensor[e], id);
    }
    trunk[e] = id;
  }
  return trunk;
}

/** Builds the layout input of a level. */
export function buildLevelGraph(
  level: ILevel,
  items: IItemMeasures
): IAssembly {
  const none = new Int32Array(0);
  const wires = joinLinks(level, items);
  const input = layoutInput(level, items, wires, none);
  const stubbed = selectStubbedWires({ input, tensor: wires.tensor });
  if (!stubbed.includes(1) && !level.hiddenLinks?.length) {
    return { ...wires, input, stubs: none };
  }
  const stubber = new StubInserter(level, items, wires);
  const table = stubber.apply(stubbed);
  const extended = addHiddenLinkStubs(
    level,
    items,
    table,
    stubber.stubs.toArray()
  );
  return {
    ...extended.wires,
    input: layoutInput(level, items, extended.wires, extended.stubs),
    stubs: extended.stubs
  };
}
