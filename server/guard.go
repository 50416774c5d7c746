package server

import "net/http"

// Guard keeps web pages of others out of next, as the MCP endpoint does it: a
// request has to be for loopback or one of hosts ("name" or "name:port"), and a
// page that sends it has to be served by the same address or be one of origins.
// Everything else is answered with 403.
func Guard(next http.Handler, hosts, origins []string) http.Handler {
	return newVisitors(hosts, origins).handler(next)
}
