/** Class names that are there, joined. */
export const classes = (...names: readonly (string | false | null | undefined)[]): string =>
  names.filter((name) => typeof name === "string" && name !== "").join(" ");
