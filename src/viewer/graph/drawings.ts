/** What a scene is drawn with: its cards, kept while the model is the same, and its colours. */
import type { IGraphModel, IScene, ITree } from '../../core/types';
import type { ICardDetails, IOverlay, ISurfaceStrings } from './api';
import { Cards } from './card';
import { ScenePaint } from './paint';
import type { IDrawing } from './primitives';
import { pageMeasure } from './text';

export class Drawings {
  /** Numbers to paint the cards by; null = the colours of the operators. */
  overlay: IOverlay | null = null;
  private cards: { model: IGraphModel; tree: ITree; cards: Cards } | null =
    null;

  constructor(
    private details: ICardDetails,
    private readonly strings: ISurfaceStrings
  ) {}

  setDetails(details: ICardDetails): void {
    this.details = details;
    this.cards = null;
  }

  of(scene: IScene, model: IGraphModel, tree: ITree): IDrawing {
    return {
      scene,
      model,
      tree,
      paint: new ScenePaint(scene, model, this.overlay, tree),
      cards: this.cardsOf(model, tree),
      measure: pageMeasure(),
      controls: true
    };
  }

  private cardsOf(model: IGraphModel, tree: ITree): Cards {
    if (this.cards?.model !== model || this.cards.tree !== tree) {
      const cards = new Cards(model, tree, this.details, this.strings);
      this.cards = { model, tree, cards };
    }
    return this.cards.cards;
  }
}
