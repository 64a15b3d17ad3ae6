import type { JupyterFrontEnd } from '@jupyterlab/application';
import {
  Dialog,
  InputDialog,
  type ICommandPalette
} from '@jupyterlab/apputils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { CommandIDs } from '../commands/commandIds';
import { chooseModels } from '../commands/modelCommands';
import type { LinkRegistry } from './linkRegistry';
import { FACTORY_NAME } from '../documentModel';
import { onnxIcon } from '../icon';
import type { IOnnxTracker } from '../tokens';
import { OnnxDocument } from '../documentWidget';

export interface ICompareContext {
  app: JupyterFrontEnd;
  tracker: IOnnxTracker;
  links: LinkRegistry;
  trans: TranslationBundle;
  translator: ITranslator;
  manager: IDocumentManager | null;
  palette: ICommandPalette | null;
  browsers: IFileBrowserFactory | null;
}

const isModel = (path: string): boolean => /\.onnx$/i.test(path);

/** Commands that compare two files, compare with an open model, link and unlink. */
export function addCompareCommands(context: ICompareContext): void {
  addFiles(context);
  addWith(context);
  addLink(context);
  const { app, tracker, links, palette, trans } = context;
  for (const command of [
    CommandIDs.compareWith,
    CommandIDs.link,
    CommandIDs.unlink
  ]) {
    palette?.addItem({ command, category: trans.__('ONNX Autodoc') });
    const changed = (): void => app.commands.notifyCommandChanged(command);
    tracker.currentChanged.connect(changed);
    tracker.widgetAdded.connect(changed);
    links.changed.connect(changed);
  }
}

/** The models selected in the file browser. */
function selectedModels(browsers: IFileBrowserFactory | null): string[] {
  const items = [...(browsers?.tracker.currentWidget?.selectedItems() ?? [])];
  return items.every(({ type, path }) => type !== 'directory' && isModel(path))
    ? items.map(({ path }) => path)
    : [];
}

function addFiles(context: ICompareContext): void {
  const { app, trans, browsers } = context;
  app.commands.addCommand(CommandIDs.compare, {
    label: trans.__('Compare Side by Side'),
    caption: trans.__('Open two linked ONNX models side by side'),
    icon: onnxIcon,
    describedBy: {
      args: {
        type: 'object',
        properties: {
          left: { type: 'string', description: 'The first file' },
          right: { type: 'string', description: 'The second file' }
        }
      }
    },
    isVisible: args =>
      typeof args.left === 'string' || selectedModels(browsers).length === 2,
    execute: async args => {
      const [left, right] =
        typeof args.left === 'string' && typeof args.right === 'string'
          ? [args.left, args.right]
          : selectedModels(browsers);
      if (left !== undefined && right !== undefined) {
        const first = await open(context, left);
        if (first) {
          await compareWith(context, first, right);
        }
      }
    }
  });
}

/** The current view, if it shows a model. */
export function current({
  app,
  tracker
}: Pick<ICompareContext, 'app' | 'tracker'>): OnnxDocument | null {
  const document = tracker.currentWidget;
  return document && app.shell.currentWidget === document ? document : null;
}

function otherDocuments(
  { tracker }: ICompareContext,
  than: OnnxDocument
): OnnxDocument[] {
  return tracker.filter(document => document !== than);
}

function addWith(context: ICompareContext): void {
  const { app, trans } = context;
  app.commands.addCommand(CommandIDs.compareWith, {
    label: trans.__('Compare with…'),
    caption: trans.__('Choose a model to compare with this one'),
    describedBy: {
      args: {
        type: 'object',
        properties: { path: { type: 'string', description: 'The other file' } }
      }
    },
    isEnabled: () => current(context) !== null,
    execute: async args => {
      const first = current(context);
      if (!first) {
        return;
      }
      if (typeof args.path === 'string') {
        await compareWith(context, first, args.path);
        return;
      }
      const second = await choose(context, first);
      if (second instanceof OnnxDocument) {
        openSideBySide(context, first, second);
      } else if (second !== null) {
        await compareWith(context, first, second);
      }
    }
  });
}

/** An open view or a file's path; null if cancelled. */
async function choose(
  context: ICompareContext,
  first: OnnxDocument
): Promise<OnnxDocument | string | null> {
  const { trans, manager, translator } = context;
  const open = otherDocuments(context, first);
  if (open.length > 0) {
    const another = trans.__('Another file…');
    const view = await pick(context, open, trans.__('Compare with'), another);
    if (view !== another) {
      return view;
    }
  }
  if (!manager) {
    return null;
  }
  const [path] = await chooseModels(
    manager,
    translator,
    trans,
    trans.__('Compare with')
  );
  return path ?? null;
}

/** The view chosen by its path from several, or the extra answer. */
async function pick<T extends string = never>(
  { trans }: ICompareContext,
  views: readonly OnnxDocument[],
  title: string,
  extra?: T
): Promise<OnnxDocument | T | null> {
  const labels = views.map(
    (view, index) => `${index + 1}. ${view.context.path}`
  );
  const result = await InputDialog.getItem({
    title,
    label: trans.__('Model'),
    items: extra === undefined ? labels : [...labels, extra]
  });
  if (!result.button.accept || result.value === null) {
    return null;
  }
  return extra !== undefined && result.value === extra
    ? extra
    : (views[labels.indexOf(result.value)] ?? null);
}

function addLink(context: ICompareContext): void {
  const { app, trans, links } = context;
  app.commands.addCommand(CommandIDs.link, {
    label: trans.__('Link with an Open View…'),
    caption: trans.__(
      'Keep selection, blocks and colours in sync between both views'
    ),
    describedBy: { args: { type: 'object', properties: {} } },
    isEnabled: () => {
      const first = current(context);
      return first !== null && otherDocuments(context, first).length > 0;
    },
    execute: async () => {
      const first = current(context);
      const open = first ? otherDocuments(context, first) : [];
      const second =
        open.length > 1
          ? await pick(context, open, trans.__('Link with'))
          : open[0];
      if (first && second) {
        links.link(first, second);
      }
    }
  });
  app.commands.addCommand(CommandIDs.unlink, {
    label: trans.__('Unlink Views'),
    describedBy: { args: { type: 'object', properties: {} } },
    isEnabled: () => {
      const first = current(context);
      return first !== null && links.partner(first) !== null;
    },
    execute: () => {
      const first = current(context);
      if (first) {
        links.unlink(first);
      }
    }
  });
}

/** The open view of a file, or a new one; null, after a message, if it cannot be opened. */
export async function open(
  { manager, trans }: Pick<ICompareContext, 'manager' | 'trans'>,
  path: string,
  anew = false
): Promise<OnnxDocument | null> {
  const widget = anew
    ? manager?.open(path, FACTORY_NAME)
    : manager?.openOrReveal(path, FACTORY_NAME);
  if (widget instanceof OnnxDocument) {
    await widget.revealed;
    return widget;
  }
  await new Dialog({
    title: trans.__('The model could not be opened'),
    body: path,
    buttons: [Dialog.okButton()]
  }).launch();
  return null;
}

async function compareWith(
  context: ICompareContext,
  first: OnnxDocument,
  path: string
): Promise<void> {
  // Comparing a file with itself opens a second view of it.
  const second = await open(context, path, first.context.path === path);
  if (second) {
    openSideBySide(context, first, second);
  }
}

/** Adds the second view to the right of the first and links them. */
function openSideBySide(
  { app, links }: ICompareContext,
  first: OnnxDocument,
  second: OnnxDocument
): void {
  app.shell.add(second, 'main', { mode: 'split-right', ref: first.id });
  app.shell.activateById(first.id);
  // The visible part of a wide pane does not fit a narrow one.
  first.content.home();
  second.content.home();
  links.link(first, second);
}
