// Package console holds the pages for people: an application for browsers that shows what the server does, its objects, who
// manages which of their fields, and who may do what.
//
// Its nouns:
//
//	Console  the files of the application, and what they need to know of this server
//	File     one of them, plain and compressed
//
// The sources are in web/, in TypeScript; what esbuild makes of them is in dist/, checked in, so that Go alone builds the
// server. `make generate` makes it anew, and a test compares the sources with those that dist/ was made from.
//
// # What always holds
//
//   - The files hold nothing that is secret: they are the same for everybody. All else comes through the API, with the rights
//     of who has signed in, and is recorded by the audit like any other request.
//   - Nothing is written through the application but dry runs, and reviews of access, of which nothing is stored.
//   - A page loads nothing from anywhere but this server, runs no script that is not one of its files, and cannot be shown in
//     the frame of another page. It talks to nobody but this server and, to sign people in, the provider of their tokens.
//   - A token stays in the tab: it is in its session storage, and sent in the header Authorization alone. No cookie is set.
package console
