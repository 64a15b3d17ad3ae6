// AMD modules, as much of them as widgets use. Both hosts load anywidget's front end as one.

type Factory = (...dependencies: unknown[]) => unknown;
type Define = (first: unknown, second?: unknown, third?: unknown) => void;

interface IModule {
  readonly dependencies: readonly string[];
  readonly make: Factory;
}

export class Modules {
  private readonly _defined = new Map<string, IModule>();
  private readonly _made = new Map<string, Promise<unknown>>();
  private _anonymous: IModule | null = null;

  /** `define([name], [dependencies], factory)`. */
  readonly define: Define = (...args) => {
    const defined = args.filter(module => module !== undefined);
    const make = defined.pop();
    const last = defined.at(-1);
    const module = {
      dependencies: Array.isArray(last) ? (last as string[]) : [],
      make: typeof make === 'function' ? (make as Factory) : () => make
    };
    if (typeof defined[0] === 'string') {
      this._defined.set(defined[0], module);
    } else {
      this._anonymous = module;
    }
  };

  /** Runs what defines one module. */
  async load(name: string, run: () => Promise<void>): Promise<void> {
    await run();
    if (this._anonymous) {
      this._defined.set(name, this._anonymous);
      this._anonymous = null;
    }
  }

  has(name: string): boolean {
    return this._defined.has(name);
  }

  require(name: string): Promise<unknown> {
    let module = this._made.get(name);
    if (!module) {
      module = this._make(name);
      this._made.set(name, module);
    }
    return module;
  }

  private async _make(name: string): Promise<unknown> {
    const module = this._defined.get(name);
    if (!module) {
      throw new Error(`No module ${name}`);
    }
    const needed = module.dependencies.map(name => this.require(name));
    return module.make(...(await Promise.all(needed)));
  }
}
