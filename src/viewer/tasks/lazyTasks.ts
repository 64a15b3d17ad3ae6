/** Tasks that run a model, and profiles; loaded on first use. */

import { lazyCode } from '../lazy/lazily';

export const taskCode = lazyCode(() => import('./tasks'));
