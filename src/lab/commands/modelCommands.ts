import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Dialog, type ICommandPalette } from '@jupyterlab/apputils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import { FileDialog } from '@jupyterlab/filebrowser';
import type { ILauncher } from '@jupyterlab/launcher';
import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { actionLabels } from './actionLabels';
import { CommandIDs } from './commandIds';
import { FACTORY_NAME } from '../documentModel';
import { onnxIcon } from '../icon';
import type { IOnnxTracker } from '../tokens';
import { ownValue } from '../../core/base/ownValue';

export interface ICommandContext {
  app: JupyterFrontEnd;
  tracker: IOnnxTracker;
  trans: TranslationBundle;
  translator: ITranslator;
  manager: IDocumentManager | null;
  palette: ICommandPalette | null;
  launcher: ILauncher | null;
}

/** Registers the commands and adds them to menus and palette. */
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

/** Paths of the models that the user chooses in a dialog; empty if cancelled. */
export async function chooseModels(
  manager: IDocumentManager,
  translator: ITranslator,
  trans: TranslationBundle,
  title: string,
  extensions: readonly string[] = ['.onnx']
): Promise<string[]> {
  const result = await FileDialog.getOpenFiles({
    manager,
    translator,
    title,
    filter: model =>
      model.type === 'directory' ||
      extensions.some(end => model.path.toLowerCase().endsWith(end))
        ? {}
        : null
  });
  if (!result.button.accept || !result.value) {
    return [];
  }
  const files = result.value.filter(model => model.type !== 'directory');
  if (files.length === 0) {
    await new Dialog({
      title: trans.__('No file selected'),
      body: trans.__(
        'Choose a file with the extension %1.',
        extensions.join(', ')
      ),
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
  const labels = actionLabels(trans);
  app.commands.addCommand(CommandIDs.run, {
    label: args =>
      ownValue(labels, String(args.action)) ?? String(args.action ?? ''),
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
  for (const action of Object.keys(labels)) {
    palette?.addItem({
      command: CommandIDs.run,
      args: { action },
      category: trans.__('ONNX Autodoc')
    });
  }
  tracker.currentChanged.connect(() =>
    app.commands.notifyCommandChanged(CommandIDs.run)
  );
}
