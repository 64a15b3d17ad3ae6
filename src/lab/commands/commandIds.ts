/** Ids of the commands. Users' custom shortcuts contain them, so they must not change. */
export namespace CommandIDs {
  export const open = 'onnx-autodoc:open';
  /** Runs a viewer action, given by its id in `action`. */
  export const run = 'onnx-autodoc:run';
  export const compare = 'onnx-autodoc:compare';
  export const compareWith = 'onnx-autodoc:compare-with';
  export const link = 'onnx-autodoc:link-views';
  export const unlink = 'onnx-autodoc:unlink-views';
  export const verify = 'onnx-autodoc:verify';
  export const verifyFiles = 'onnx-autodoc:verify-files';
}
