/** The engine: what seen cells say about unseen ones. Pure functions on typed arrays; nothing is kept between calls. */

export { conjunctionsOf } from "./conjunctions.ts";
export { identify } from "./identify.ts";
export { arrangementsOf, canonicalOf, cellOf, levelsOf, productOf } from "./product.ts";
export * from "./types.ts";
