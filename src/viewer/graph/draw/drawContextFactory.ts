/** Creates the draw context of a scene: its cards, cached per model, and its colours. */
import type { IGraphModel, IScene, ITree } from '../../../core/types';
import type { ICardDetails, IOverlay, ISurfaceStrings } from '../surfaceApi';
import { CardContents } from '../cards/cardContents';
import { BoxColors } from '../style/boxColors';
import type { IDrawContext } from './drawTarget';
import { pageTextMeasure } from '../text/textMeasure';

export class DrawContextFactory {
  /** Overlay that colours the cards; null for the colours of operator categories. */
  overlay: IOverlay | null = null;
  private _cards: {
    model: IGraphModel;
    tree: ITree;
    cards: CardContents;
  } | null = null;

  constructor(
    private _details: ICardDetails,
    private readonly _strings: ISurfaceStrings
  ) {}

  setDetails(details: ICardDetails): void {
    this._details = details;
    this._cards = null;
  }

  of(scene: IScene, model: IGraphModel, tree: ITree): IDrawContext {
    return {
      scene,
      model,
      tree,
      paint: new BoxColors(scene, model, this.overlay, tree),
      cards: this._cardsOf(model, tree),
      measure: pageTextMeasure(),
      controls: true
    };
  }

  private _cardsOf(model: IGraphModel, tree: ITree): CardContents {
    if (this._cards?.model !== model || this._cards.tree !== tree) {
      const cards = new CardContents(model, tree, this._details, this._strings);
      this._cards = { model, tree, cards };
    }
    return this._cards.cards;
  }
}
