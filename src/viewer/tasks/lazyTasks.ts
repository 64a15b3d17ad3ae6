/** Tasks that run a model, and profiles; loaded on first use. */

import { piece } from '../lazy/lazily';

export const taskCode = piece(() => import('./tasks'));
