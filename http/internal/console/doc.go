// Package console contains the web console, a browser application that shows the server's objects,
// their field managers, and permissions.
//
//	Console  the application's files and its configuration
//	File     one embedded file, both uncompressed and compressed
//
// The TypeScript sources are in web/. The esbuild output is checked in as dist/, so that building
// the server needs only Go. `make generate` rebuilds dist/, and a test checks that it is current.
//
// # Invariants
//
//   - The files contain no secrets and are the same for every user. The application requests all
//     other data through the API, audited and with the permissions of the signed-in user.
//   - The application stores nothing, except a deleted object that the user restores after a dry
//     run. Its other writes are dry runs and access reviews.
//   - A page loads only from this server, runs only its own scripts, and cannot be framed. It
//     connects only to this server and the token endpoint.
//   - A token stays in the tab: in its session storage and the Authorization header. No cookie is
//     set.
package console
