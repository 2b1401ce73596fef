/** How whoever did something had shown who they are, as far as whoever let them in says so. */
export type Via = { readonly via?: string };

/** An entry of what nobody said it of is as it always was. */
export const viaField = ({ via }: Via): Via => (via === undefined ? {} : { via });

/** States do not keep it. */
export function withoutVia<Body extends Via>({ via: _, ...rest }: Body): Omit<Body, "via"> {
  return rest;
}
