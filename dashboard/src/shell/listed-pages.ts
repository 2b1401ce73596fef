/** Made by `npm run generate`: pages of lists that `places.ts` does not name. */
export const LISTED_PAGES = [] as const;
