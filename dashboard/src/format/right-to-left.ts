/** Scripts that are written from right to left: their letters turn the order of numbers and signs beside them around. */
const LETTERS = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

export const holdsRightToLeft = (text: string): boolean => LETTERS.test(text);
