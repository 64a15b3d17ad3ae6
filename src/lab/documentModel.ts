import { TextModelFactory } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';

/** Name of the document model and id of the content provider below. */
export const MODEL_NAME = 'onnx-autodoc';
export const PROVIDER_ID = 'onnx-autodoc:metadata';
export const FACTORY_NAME = 'ONNX Autodoc';
export const ONNX_FILE_TYPE = 'onnx';
export const ORT_FILE_TYPE = 'onnx-ort';

/**
 * A document without content. With `fileFormat: null`, JupyterLab requests only metadata from the server
 * (`content=0&hash=0`): a model may have gigabytes, and the viewer gets all its data from the server
 * extension.
 */
export class OnnxModelFactory extends TextModelFactory {
  constructor() {
    super(false);
  }

  override get name(): string {
    return MODEL_NAME;
  }

  override get fileFormat(): Contents.FileFormat {
    return null;
  }
}

/**
 * Returns a file's metadata, marked as read-only, for two reasons: JupyterLab copies a writable file to a
 * checkpoint when it is opened, and Ctrl+S would overwrite the model with the (empty) document.
 */
export function metadataProvider(drive: Contents.IDrive): {
  get(path: string, options?: Contents.IFetchOptions): Promise<Contents.IModel>;
  save(): Promise<Contents.IModel>;
} {
  return {
    get: async (path, options) => {
      // Without a contentProviderId: otherwise the drive would call this provider again.
      const model = await drive.get(path, {
        type: options?.type,
        content: false,
        hash: false
      });
      return { ...model, writable: false };
    },
    save: () =>
      Promise.reject(
        new Error('ONNX models are opened read-only; nothing was written.')
      )
  };
}
