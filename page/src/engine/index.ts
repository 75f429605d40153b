/** The engine: what seen cells say about unseen ones. Pure functions on typed arrays; nothing is kept between calls. */

export { certificate, certificateValue } from "./certificate.ts";
export { conjunctionsOf } from "./conjunctions.ts";
export { identify } from "./identify.ts";
export { fitLink } from "./link.ts";
export { curveAt } from "./curve.ts";
export { overlapKernel, predictNetwork } from "./networks.ts";
export { fitAdditive, leverages } from "./normal.ts";
export { arrangementsOf, canonicalOf, cellOf, levelsOf, productOf } from "./product.ts";
export { readSlopes } from "./slopes.ts";
export { suggest } from "./suggestions.ts";
export * from "./types.ts";
