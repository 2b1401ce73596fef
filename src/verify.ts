/** Entry point `holdpoint/verify`: checks the export of a journal, or a signed receipt, without a store. */

export { type ExportOptions, verifyExport } from "./journal/export.ts";
export type { PublicJwk } from "./journal/jws.ts";
export { type ReceiptBundle, type ReceiptCheck, verifyReceipt } from "./journal/receipt-jws.ts";
export type { Report } from "./journal/verify.ts";
export type { Finding, SavedSeal } from "./journal/verify-seals.ts";
