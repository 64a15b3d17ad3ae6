import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Dialog, type ICommandPalette } from '@jupyterlab/apputils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import { FileDialog } from '@jupyterlab/filebrowser';
import type { ILauncher } from '@jupyterlab/launcher';
import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import type { WidgetTracker } from '@jupyterlab/apputils';
import { FACTORY_NAME } from './document';
import { onnxIcon } from './icon';
import type { OnnxDocument } from './widget';

export namespace CommandIDs {
  export const open = 'onnx-autodoc:open';
  export const run = 'onnx-autodoc:run';
}

export interface ICommandContext {
  app: JupyterFrontEnd;
  tracker: WidgetTracker<OnnxDocument>;
  trans: TranslationBundle;
  translator: ITranslator;
  manager: IDocumentManager | null;
  palette: ICommandPalette | null;
  launcher: ILauncher | null;
}

/** Viewer actions that stand in the command palette while a model is in front. */
const PALETTE_ACTIONS: readonly { id: string; label: string }[] = [
  { id: 'find', label: 'Find in the graph' },
  { id: 'overview', label: 'Show the first picture' },
  { id: 'fit', label: 'Fit the graph into the view' },
  { id: 'expand-all', label: 'Expand All Blocks' },
  { id: 'collapse-all', label: 'Collapse all groups' },
  { id: 'next-overlay', label: 'Next heatmap' },
  { id: 'next-change', label: 'Next change between two models' },
  { id: 'previous-change', label: 'Previous change between two models' },
  { id: 'only-changes', label: 'Only changes between two models' },
  { id: 'rescale', label: 'Rescale the colours to the view' },
  { id: 'export-svg', label: 'Save the graph as SVG' },
  { id: 'export-svg-view', label: 'Save the visible area as SVG' },
  { id: 'export-svg-selection', label: 'Save the selection as SVG' },
  { id: 'export-png-1', label: 'Save the graph as PNG' },
  { id: 'export-png-2', label: 'Save the graph as PNG at scale 2' },
  { id: 'export-png-4', label: 'Save the graph as PNG at scale 4' },
  { id: 'export-html', label: 'Save the model as one HTML file' },
  { id: 'export-dot', label: 'Save the graph as DOT' },
  { id: 'export-netron', label: 'Save Metrics for Netron' },
  {
    id: 'export-model-explorer',
    label: 'Save the heatmap for Model Explorer'
  },
  { id: 'reload', label: 'Analyse the file again' }
];

/** Registers the commands and puts them where people look for them. */
export function addCommands(context: ICommandContext): void {
  addOpen(context);
  addRun(context);
}

function addOpen(context: ICommandContext): void {
  const { app, trans, translator, manager, palette, launcher } = context;
  if (!manager) {
    return;
  }
  app.commands.addCommand(CommandIDs.open, {
    label: trans.__('Open ONNX Model…'),
    caption: trans.__('Choose an ONNX model and open it in the viewer'),
    icon: onnxIcon,
    describedBy: {
      args: {
        type: 'object',
        properties: { path: { type: 'string', description: 'The file' } }
      }
    },
    execute: async args => {
      const paths =
        typeof args.path === 'string'
          ? [args.path]
          : await chooseModels(
              manager,
              translator,
              trans,
              trans.__('Open ONNX Model')
            );
      for (const path of paths) {
        await app.commands.execute('docmanager:open', {
          path,
          factory: FACTORY_NAME
        });
      }
    }
  });
  palette?.addItem({
    command: CommandIDs.open,
    category: trans.__('ONNX Autodoc')
  });
  launcher?.add({
    command: CommandIDs.open,
    category: trans.__('Other'),
    rank: 3
  });
}

/** Paths of the models that the user chooses in a dialog; none when the user thinks better of it. */
export async function chooseModels(
  manager: IDocumentManager,
  translator: ITranslator,
  trans: TranslationBundle,
  title: string
): Promise<string[]> {
  const answer = await FileDialog.getOpenFiles({
    manager,
    translator,
    title,
    filter: model =>
      model.type === 'directory' || model.path.toLowerCase().endsWith('.onnx')
        ? {}
        : null
  });
  if (!answer.button.accept || !answer.value) {
    return [];
  }
  const files = answer.value.filter(model => model.type !== 'directory');
  if (files.length === 0) {
    await new Dialog({
      title: trans.__('No model selected'),
      body: trans.__('Choose a file with the extension .onnx.'),
      buttons: [Dialog.okButton()]
    }).launch();
  }
  return files.map(model => model.path);
}

function addRun(context: ICommandContext): void {
  const { app, tracker, trans, palette } = context;
  const handle = () =>
    app.shell.currentWidget === tracker.currentWidget
      ? (tracker.currentWidget?.content.handle ?? null)
      : null;
  app.commands.addCommand(CommandIDs.run, {
    label: args => trans.__(String(args.label ?? args.action ?? '')),
    describedBy: {
      args: {
        type: 'object',
        properties: {
          action: { type: 'string', description: 'Id of a viewer action' }
        },
        required: ['action']
      }
    },
    isVisible: () => handle() !== null,
    isEnabled: args => handle()?.isEnabled(String(args.action)) ?? false,
    execute: args => {
      handle()?.run(String(args.action));
    }
  });
  for (const { id, label } of PALETTE_ACTIONS) {
    palette?.addItem({
      command: CommandIDs.run,
      args: { action: id, label },
      category: trans.__('ONNX Autodoc')
    });
  }
  tracker.currentChanged.connect(() =>
    app.commands.notifyCommandChanged(CommandIDs.run)
  );
}
