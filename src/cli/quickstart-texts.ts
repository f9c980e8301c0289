/** Small texts for `lzero quickstart`, written for it. */

/** Passages of a few sentences. */
export const QUICKSTART_DOCUMENTS: readonly { readonly id: string; readonly text: string }[] = [
  {
    id: 'sourdough',
    text: 'A sourdough starter is a culture of wild yeast and bacteria in flour and water. Feed it every day and it will raise bread without any yeast from a packet.',
  },
  {
    id: 'bicycle-chain',
    text: 'A bicycle chain wears by stretching. Measure it with a gauge every few hundred kilometres: a worn chain ruins the sprockets, which cost far more to replace.',
  },
  {
    id: 'tides',
    text: 'The moon pulls the ocean into two bulges, and the turning earth carries each coast through both of them. Most shores therefore see high tide twice a day.',
  },
  {
    id: 'sticky-header',
    text: 'With position: sticky an element scrolls with the page until it reaches the top edge, then stays there. Menus and table headings remain visible while the content moves.',
  },
  {
    id: 'compost',
    text: 'Compost needs air, moisture and a mixture of green and brown material. Kitchen scraps alone turn slimy; add dry leaves or shredded cardboard and turn the heap.',
  },
  {
    id: 'git-stash',
    text: 'git stash puts uncommitted changes aside so that you can switch to another branch with a clean working tree. Later, git stash pop brings the changes back.',
  },
  {
    id: 'honey-bees',
    text: 'A honey bee that has found flowers dances on the comb. The angle of the dance tells the others the direction from the sun, its length tells the distance.',
  },
  {
    id: 'index-funds',
    text: 'An index fund buys every share of a market index in proportion. It charges low fees because nobody is paid to choose, and over long periods it beats most managers.',
  },
  {
    id: 'concrete',
    text: 'Concrete does not dry, it cures: cement reacts with water and grows crystals that hold sand and gravel together. Kept moist for a week it becomes much stronger.',
  },
  {
    id: 'glasses',
    text: 'In a short-sighted eye the image forms in front of the retina, so distant things look blurred. A concave lens spreads the light and moves the image back.',
  },
  {
    id: 'deadlock',
    text: 'Two threads deadlock when each holds a lock that the other waits for. Always taking locks in the same order makes such a circle impossible.',
  },
  {
    id: 'chess-clock',
    text: 'In timed chess each player has a clock that runs only during their own turn. Whoever runs out of time loses, however good the position on the board may be.',
  },
];

/** A question whose words are in one of the passages. */
export const QUICKSTART_QUERY = 'which heading stays at the top of a page';
