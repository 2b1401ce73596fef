/** `1 fault`, `2 faults` */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
