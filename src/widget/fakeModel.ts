/** A widget model without a manager, for tests. */

import type { IManagedModel, IWidgetModel } from './model';

/** A widget model as held by a manager; `peers` are the other widgets by id. */
export class FakeModel implements IWidgetModel {
  readonly sent: unknown[] = [];
  saved = 0;
  private readonly _listeners = new Map<string, Set<(value: never) => void>>();

  constructor(
    private readonly _traits: Record<string, unknown>,
    peers: Record<string, IManagedModel> | null = {}
  ) {
    this.widget_manager = peers
      ? {
          get_model: id =>
            peers[id]
              ? Promise.resolve(peers[id])
              : Promise.reject(new Error('unknown'))
        }
      : undefined;
  }

  readonly widget_manager: IWidgetModel['widget_manager'];

  get(trait: string): unknown {
    return this._traits[trait];
  }

  set(trait: string, value: unknown): void {
    if (JSON.stringify(value) !== JSON.stringify(this._traits[trait])) {
      this._traits[trait] = value;
      this.emit(`change:${trait}`, undefined);
    }
  }

  save_changes(): void {
    this.saved++;
  }

  send(content: unknown): void {
    this.sent.push(content);
  }

  on(event: string, callback: (...args: never[]) => void): void {
    this._listeners.set(
      event,
      (this._listeners.get(event) ?? new Set()).add(callback)
    );
  }

  off(event: string, callback: (...args: never[]) => void): void {
    this._listeners.get(event)?.delete(callback);
  }

  emit(event: string, value: unknown): void {
    this._listeners.get(event)?.forEach(callback => callback(value as never));
  }
}
