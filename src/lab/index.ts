import { comparePlugin } from './compare/comparePlugin';
import { outputPlugin } from './notebook/outputPlugin';
import { servicesPlugin } from './servicesPlugin';
import { settingsPlugin } from './settings/settingsPlugin';
import { viewerPlugin } from './viewerPlugin';

export { IOnnxTracker } from './tokens';

export default [
  settingsPlugin,
  servicesPlugin,
  viewerPlugin,
  comparePlugin,
  outputPlugin
];
