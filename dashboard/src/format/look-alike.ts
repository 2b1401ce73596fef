/**
 * Names whose letters look like others: Latin ones among those of an alphabet that shares their shapes, or forms that are meant
 * for typesetting. `Аmount` with a Cyrillic А is not `Amount`.
 */
const LATIN = /\p{Script=Latin}/u;
const LIKE_LATIN =
  /\p{Script=Cyrillic}|\p{Script=Greek}|\p{Script=Armenian}|\p{Script=Cherokee}|\p{Script=Coptic}|\p{Script=Lisu}|\p{Script=Deseret}/u;

export const holdsLookAlikes = (name: string): boolean =>
  (LATIN.test(name) && LIKE_LATIN.test(name)) || name.normalize("NFKC") !== name.normalize("NFC");
