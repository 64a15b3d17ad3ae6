import { ReactWidget } from '@jupyterlab/apputils';
import * as React from 'react';
import type { ISavedModel, ISavedOutput } from './savedOutput';
import type { IDocumentServices } from '../documentWidget';

/** Loads the viewer when the first output needs it. */
const SavedModels = React.lazy(() => import('./savedModels'));

/** Current state of a saved model; kept while its view is suspended. */
export type ISavedModelState = {
  -readonly [Key in keyof ISavedModel]: ISavedModel[Key];
};

/** Shows the models saved in an output, without a kernel or widget manager. */
export class SavedPanel extends ReactWidget {
  private readonly _models: readonly ISavedModelState[];

  constructor(
    private readonly _saved: ISavedOutput,
    private readonly _services: IDocumentServices,
    /** Called if they cannot be shown. */
    private readonly _fail: (message: string) => void
  ) {
    super();
    this.addClass('oad-Saved');
    this._models = _saved.models.map(model => ({ ...model }));
    _services.settings.changed.connect(this._redraw, this);
    _services.themeChanged?.connect(this._redraw, this);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._services.settings.changed.disconnect(this._redraw, this);
      this._services.themeChanged?.disconnect(this._redraw, this);
      super.dispose();
    }
  }

  protected render(): JSX.Element {
    const { height } = this._saved;
    return (
      <React.Suspense fallback={<div style={{ height }} />}>
        <SavedModels
          models={this._models}
          height={height}
          services={this._services}
          onFail={this._fail}
        />
      </React.Suspense>
    );
  }

  private _redraw(): void {
    this.update();
  }
}
