/** Made from the contracts by `npm run generate`: the client has their routes without their schemas. */
export const CONTRACT_CALLS = {
  approvals: {
    list: { route: "GET /api/approvals", takes: "query" },
    count: { route: "GET /api/approvals/count", takes: "query" },
    find: { route: "GET /api/approvals/find", takes: "query" },
    get: { route: "GET /api/approvals/{id}", takes: "nothing" },
    vote: { route: "POST /api/approvals/{id}/votes", takes: "body" },
    extend: { route: "POST /api/approvals/{id}/extend", takes: "body" },
    revoke: { route: "POST /api/approvals/{id}/revoke", takes: "body" },
    cancel: { route: "POST /api/approvals/{id}/cancel", takes: "body" },
    delegate: { route: "POST /api/approvals/{id}/delegate", takes: "body" },
    takeBack: { route: "POST /api/approvals/{id}/take-back", takes: "body" },
    decideAll: { route: "POST /api/approvals/batch", takes: "body" },
    comment: { route: "POST /api/approvals/{id}/comments", takes: "body" },
  },
  grants: {
    list: { route: "GET /api/grants", takes: "query" },
    give: { route: "POST /api/grants", takes: "body" },
    get: { route: "GET /api/grants/{id}", takes: "nothing" },
    uses: { route: "GET /api/grants/{id}/uses", takes: "nothing" },
    find: { route: "GET /api/grants/find", takes: "query" },
    revoke: { route: "POST /api/grants/{id}/revoke", takes: "body" },
  },
} as const;
