/** Tasks that run a model, and profiles; loaded on first use. */

import { lazyCode } from '../lazy/lazyCode';

export const taskCode = lazyCode(() => import('./taskActions'));
