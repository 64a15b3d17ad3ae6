/** Work that runs a model, and profiles; fetched when the first is asked for. */

import { piece } from '../lazy/lazily';

export const taskCode = piece(() => import('./tasks'));
