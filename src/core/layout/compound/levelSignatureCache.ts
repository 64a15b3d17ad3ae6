/**
 * Recognises equal levels (the repeated blocks of a model) before they are assembled: a level with a
 * known signature shares the wires, positions and panel of the first one.
 */

import type { FlowDirection } from '../../types';
import type { ITitleRoom } from './panelGeometry';
import type { IItemMeasures, IPlacedLevel } from './levelTypes';
import type { ILevel } from '../../tree/treeTypes';

/** A growing signature, reused between levels. */
class Signature {
  clear(): void {
    this._length = 0;
  }

  push(value: number): void {
    if (this._length === this._data.length) {
      const larger = new Float64Array(this._data.length * 2);
      larger.set(this._data);
      this._data = larger;
    }
    this._data[this._length++] = value;
  }

  /** FNV-1a over the numbers, rounded to 1/64. */
  hash(): number {
    let h = 0x811c9dc5;
    for (let i = 0; i < this._length; i++) {
      h = Math.imul(
        h ^ Math.round(Math.min(this._data[i], 1e7) * 64),
        0x01000193
      );
    }
    return h >>> 0;
  }

  equals(other: Float64Array): boolean {
    if (other.length !== this._length) {
      return false;
    }
    for (let i = 0; i < this._length; i++) {
      if (other[i] !== this._data[i]) {
        return false;
      }
    }
    return true;
  }

  copy(): Float64Array {
    return this._data.slice(0, this._length);
  }

  private _data = new Float64Array(256);
  private _length = 0;
}

interface ICachedLevel {
  readonly signature: Float64Array;
  readonly placed: IPlacedLevel;
}

/** Levels with more links are not cached: they are rare, and signatures use memory. */
const MAX_CACHED_LINKS = 5000;

/** Result of `LevelSignatureCache.find`: an equal level, or a way to store this one. */
export interface ISignatureQuery {
  readonly equalLevel: IPlacedLevel | null;
  /** Stores the layout for later equal levels, unless it cannot be shared. */
  remember(placed: IPlacedLevel): void;
}

export class LevelSignatureCache {
  hits = 0;

  find(
    level: ILevel,
    items: IItemMeasures,
    title: ITitleRoom,
    direction: FlowDirection,
    room = Infinity
  ): ISignatureQuery {
    if (level.linkSource.length > MAX_CACHED_LINKS) {
      return { equalLevel: null, remember: () => undefined };
    }
    const head =
      direction === 'down'
        ? [1, title.panel, title.text, room]
        : [0, title.panel, room];
    this._sign(level, items, head);
    const hash = this._signature.hash();
    const bucket = this._known.get(hash) ?? [];
    const cached = bucket.find(({ signature }) =>
      this._signature.equals(signature)
    );
    if (cached) {
      this.hits++;
      return { equalLevel: cached.placed, remember: () => undefined };
    }
    const signature = this._signature.copy();
    return {
      equalLevel: null,
      remember: placed => {
        // Connectors have names of different widths, so levels with connectors are not shared.
        if (placed.stubs.length === 0) {
          bucket.push({ signature, placed });
          this._known.set(hash, bucket);
        }
      }
    };
  }

  /** `head` distinguishes titles of different widths, and the directions. */
  private _sign(level: ILevel, items: IItemMeasures, head: number[]): void {
    const s = this._signature;
    s.clear();
    head.forEach(value => s.push(value));
    s.push(items.mainPort);
    for (const list of [
      level.children,
      level.inputs,
      level.outputs,
      level.portsIn,
      level.portsOut
    ]) {
      s.push(list.length);
    }
    const cards =
      level.itemCount - level.portsIn.length - level.portsOut.length;
    for (let item = 0; item < cards; item++) {
      const { w, h } = items.size(item);
      s.push(w);
      s.push(h);
      s.push(items.connectionKind(item));
      s.push(item < level.children.length ? items.importance(item) : 0);
    }
    this._trunks.clear();
    for (let l = 0; l < level.linkSource.length; l++) {
      const tensor = level.linkTensor[l];
      let trunk = this._trunks.get(tensor);
      if (trunk === undefined) {
        trunk = this._trunks.size;
        this._trunks.set(tensor, trunk);
      }
      const [source, target] = [level.linkSource[l], level.linkTarget[l]];
      s.push(source);
      s.push(target);
      s.push(trunk);
      s.push(level.linkWeight[l]);
      // Wires of open children end at ports, by tensor.
      s.push(items.ports(source)?.leaving(tensor) ?? -1);
      s.push(items.ports(target)?.entering(tensor) ?? -1);
    }
    for (const list of [level.portsIn, level.portsOut]) {
      for (const tensor of list) {
        s.push(this._trunks.get(tensor) ?? -1);
      }
    }
  }

  private readonly _signature = new Signature();
  private readonly _trunks = new Map<number, number>();
  private readonly _known = new Map<number, ICachedLevel[]>();
}
