/** Made by `npm run generate`: names of the pages of lists that the desk makes no route for by hand. */
export const LISTED_PAGES = ["nodes"] as const;
