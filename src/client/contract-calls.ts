/** Made from the contracts by `npm run generate`: the client has their routes without their schemas. */
export const CONTRACT_CALLS = {
  approvals: {
    list: { route: "GET /api/approvals", takes: "query" },
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
  workflows: {
    at: { route: "GET /api/workflows/{id}/at", takes: "query" },
    timeline: { route: "GET /api/workflows/{id}/timeline", takes: "query" },
    find: { route: "GET /api/workflows/find", takes: "query" },
    jobs: { route: "GET /api/workflows/{id}/jobs", takes: "nothing" },
    snapshot: { route: "GET /api/workflows/{id}/checkpoints/{checkpoint}", takes: "nothing" },
    cancel: { route: "POST /api/workflows/{id}/cancel", takes: "body" },
    rollbackOutlook: { route: "GET /api/workflows/{id}/rollback", takes: "nothing" },
    rollback: { route: "POST /api/workflows/{id}/rollback", takes: "body" },
    startByName: { route: "POST /api/definitions/{name}/start", takes: "body" },
  },
} as const;
