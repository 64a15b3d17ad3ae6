import type { TranslationBundle } from '@jupyterlab/translation';

/**
 * The viewer's actions as commands, by id, in the order of the palette. Labels are those of the actions
 * in Title Case (checked by a test); they are repeated here because the viewer's code is loaded only when
 * a model is opened.
 */
export function actionLabels(trans: TranslationBundle): Record<string, string> {
  return {
    find: trans.__('Find'),
    'find-next': trans.__('Next Match'),
    'find-previous': trans.__('Previous Match'),
    'select-hits': trans.__('Select All Matches'),
    overview: trans.__('Initial View'),
    fit: trans.__('Fit to the View'),
    'toggle-direction': trans.__(
      'Flow: Automatic, Left to Right, Top to Bottom, in Rows'
    ),
    'toggle-chips': trans.__(
      'Expand or Collapse the Preparation of the Selected Box'
    ),
    'expand-all': trans.__('Expand All'),
    'collapse-all': trans.__('Collapse All'),
    locate: trans.__('Show the Selection in the Graph'),
    'go-back': trans.__('Back to the Last Selection or View'),
    'go-forward': trans.__('Forward'),
    'select-same': trans.__('Select All of the Same Type'),
    'fit-selection': trans.__('Fit the Selection to the View'),
    'trace-ancestors': trans.__('Trace Upstream Nodes'),
    'trace-descendants': trans.__('Trace Downstream Nodes'),
    'trace-paths': trans.__('Trace the Paths between Both'),
    'next-change': trans.__('Next Change'),
    'previous-change': trans.__('Previous Change'),
    'only-changes': trans.__('Only Changes'),
    hide: trans.__('Hide the Selection'),
    'show-only': trans.__('Show Only the Selection'),
    'show-hidden': trans.__('Show All Hidden Items'),
    'copy-link': trans.__('Copy a Link to This View'),
    'next-overlay': trans.__('Next Heatmap'),
    'toggle-scale': trans.__('Linear, Logarithmic or Ranked Colours'),
    rescale: trans.__('Rescale the Colours to the View'),
    'toggle-names': trans.__('Node Names on Cards'),
    'toggle-weights': trans.__('Weight Shapes on Cards'),
    'toggle-outline': trans.__('Outline'),
    'toggle-inspector': trans.__('Inspector'),
    'toggle-layers': trans.__('Layers Table'),
    'toggle-diagnostics': trans.__('Diagnostics'),
    'toggle-dims': trans.__('Dimensions'),
    'focus-graph': trans.__('Move the Focus to the Graph'),
    'export-svg': trans.__('Save the Graph as SVG'),
    'export-svg-view': trans.__('Save the Visible Area as SVG'),
    'export-svg-selection': trans.__('Save the Selection as SVG'),
    'export-png-1': trans.__('Save the Graph as PNG'),
    'export-png-2': trans.__('Save the Graph as PNG at Scale 2'),
    'export-png-4': trans.__('Save the Graph as PNG at Scale 4'),
    'export-html': trans.__('Save the Model as One HTML File'),
    'export-dot': trans.__('Save the Graph as DOT'),
    'export-netron': trans.__('Save Metrics for Netron'),
    'export-model-explorer': trans.__('Save the Heatmap for Model Explorer'),
    'open-profile': trans.__('Load a Profile…'),
    reload: trans.__('Analyse the File Again'),
    help: trans.__('Keyboard Shortcuts')
  };
}
