import { comparePlugin } from './comparePlugin';
import { outputPlugin } from './outputPlugin';
import { servicesPlugin } from './servicesPlugin';
import { settingsPlugin } from './settingsPlugin';
import { viewerPlugin } from './viewerPlugin';

export { IOnnxTracker } from './tokens';

export default [
  settingsPlugin,
  servicesPlugin,
  viewerPlugin,
  comparePlugin,
  outputPlugin
];
