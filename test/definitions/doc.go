// Package definitions brings the definitions of real projects to the server, and the objects that they publish as
// examples: all are accepted, and what becomes of the objects is what becomes of them by the public libraries. The
// projects are fetched as Go modules, in pinned versions.
//
// What is refused of definitions, new ones and changes, is held against the public validation.
//
// It also tests what many definitions, and those that come and go, cost and leave behind: that a deleted one is
// released with all that was made of it, and that discovery and OpenAPI are right after each change.
package definitions
