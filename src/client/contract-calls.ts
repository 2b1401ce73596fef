/** Made from the contracts by `npm run generate`: the client has their routes without their schemas. */
export const CONTRACT_CALLS = {
  grants: {
    list: { route: "GET /api/grants", takes: "query" },
    give: { route: "POST /api/grants", takes: "body" },
    get: { route: "GET /api/grants/{id}", takes: "nothing" },
    uses: { route: "GET /api/grants/{id}/uses", takes: "nothing" },
    find: { route: "GET /api/grants/find", takes: "query" },
    revoke: { route: "POST /api/grants/{id}/revoke", takes: "body" },
  },
} as const;
