/** Without authentication, the name that whoever sits here gives. It is kept in this browser and proves nothing. */
const PLACE = "holdpoint.name";
const NOBODY = "somebody";

export const claimedName = (): string => window.localStorage.getItem(PLACE) ?? NOBODY;
export const claimName = (name: string): void => window.localStorage.setItem(PLACE, name.trim() || NOBODY);
