import { InputDialog } from '@jupyterlab/apputils';
import type { IViewerHandle } from '../../viewer';
import { CommandIDs } from './commandIds';
import { chooseModels } from './modelCommands';
import {
  current,
  open,
  type ICompareContext
} from '../compare/compareCommands';
import { onnxIcon } from '../icon';
import type { OnnxDocument } from '../documentWidget';

const REFERENCES = ['.onnx', '.npz'];

/** Commands that verify a model against another file: the current model, or two selected files. */
export function addVerifyCommands(context: ICompareContext): void {
  const { app, tracker, palette, trans } = context;
  addAgainst(context);
  addFiles(context);
  palette?.addItem({
    command: CommandIDs.verify,
    category: trans.__('ONNX Autodoc')
  });
  tracker.currentChanged.connect(() =>
    app.commands.notifyCommandChanged(CommandIDs.verify)
  );
}

function addAgainst(context: ICompareContext): void {
  const { app, trans, manager, translator } = context;
  app.commands.addCommand(CommandIDs.verify, {
    label: trans.__('Verify Against…'),
    caption: trans.__(
      'Run this model and a reference, and compare their layers'
    ),
    describedBy: {
      args: {
        type: 'object',
        properties: {
          path: { type: 'string', description: 'The model' },
          against: {
            type: 'string',
            description: 'The reference: an ONNX file, or a .npz file'
          },
          data: {
            type: 'string',
            description: 'Samples next to the model; synthetic if omitted'
          }
        }
      }
    },
    isEnabled: args =>
      typeof args.path === 'string' || current(context) !== null,
    execute: async args => {
      const document =
        typeof args.path === 'string'
          ? await open(context, args.path)
          : current(context);
      if (!document) {
        return;
      }
      let { against } = args;
      if (typeof against !== 'string' && manager) {
        const title = trans.__('Verify against');
        [against] = await chooseModels(
          manager,
          translator,
          trans,
          title,
          REFERENCES
        );
      }
      if (typeof against === 'string') {
        const handle = await handleOf(document);
        handle.startTask({
          kind: 'verify',
          against: absolute(against),
          ...(typeof args.data === 'string' && { data: args.data })
        });
      }
    }
  });
}

/** A path from the server's root, as used in tasks. */
function absolute(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}

/** The viewer of a document, once it is mounted. */
function handleOf({ content }: OnnxDocument): Promise<IViewerHandle> {
  return new Promise(resolve => {
    const look = (): void => {
      if (content.handle) {
        content.handleChanged.disconnect(look);
        resolve(content.handle);
      }
    };
    content.handleChanged.connect(look);
    look();
  });
}

function addFiles(context: ICompareContext): void {
  const { app, trans, browsers } = context;
  /** The two selected files, if one of them is a model. */
  const selected = (): string[] => {
    const items = [...(browsers?.tracker.currentWidget?.selectedItems() ?? [])];
    const paths = items.map(({ path }) => path);
    const areReferences = paths.every(path => isOf(path, REFERENCES));
    return paths.length === 2 &&
      areReferences &&
      paths.some(path => isOf(path, ['.onnx']))
      ? paths
      : [];
  };
  app.commands.addCommand(CommandIDs.verifyFiles, {
    label: trans.__('Verify One Against the Other…'),
    caption: trans.__('Run both on the same values and compare their layers'),
    icon: onnxIcon,
    describedBy: { args: { type: 'object', properties: {} } },
    isVisible: () => selected().length === 2,
    execute: async () => {
      const paths = selected();
      if (paths.length !== 2) {
        return;
      }
      const values = paths.find(path => !isOf(path, ['.onnx']));
      const reference =
        values === undefined
          ? (
              await InputDialog.getItem({
                title: trans.__('Verify'),
                label: trans.__('Which one is the reference?'),
                items: paths
              })
            ).value
          : values;
      const path = paths.find(path => path !== reference);
      if (reference !== null && path !== undefined) {
        await app.commands.execute(CommandIDs.verify, {
          path,
          against: reference
        });
      }
    }
  });
}

function isOf(path: string, extensions: readonly string[]): boolean {
  return extensions.some(end => path.toLowerCase().endsWith(end));
}
