/** In which order fields are read: whom and what it is about, then what is short, then long texts. Otherwise as they came. */
const ABOUT = new Set(["to", "recipient", "recipients", "subject", "title"]);

export function inReadingOrder<Field>(
  fields: readonly Field[],
  {
    nameOf,
    isLong,
  }: { readonly nameOf: (field: Field) => string; readonly isLong: (field: Field) => boolean },
): readonly Field[] {
  const rank = (field: Field): number => {
    if (isLong(field)) return 2;
    return ABOUT.has(nameOf(field).toLowerCase()) ? 0 : 1;
  };
  return [...fields].sort((a, b) => rank(a) - rank(b));
}
