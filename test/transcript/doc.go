// Package transcript replays recorded HTTP exchanges and compares a server's responses with the
// recorded ones. A directory below testdata contains a test's transcripts, one file per topic:
//
//	# Comments explain. A blank line ends an exchange.
//	let cm = /api/v1/namespaces/{ns}/configmaps
//
//	POST {cm}
//	show data, metadata.labels
//	{"metadata":{"name":"a"},"data":{"a":"1"}}
//	=> 201
//	data: {"a":"1"}
//	metadata.labels: absent
//
//	as alice PATCH {cm}/a
//	Content-Type: application/json-patch+json
//	[{"op":"replace","path":"/kind","value":"Secret"}]
//	=> 422 Invalid
//	message: the kind in the patched object does not match
//
// go test -run TestName -update ./suite records the responses, which begin at =>. Review the
// result.
//
// # Requests
//
//	[until] [as USER] METHOD PATH   until repeats the request until the response matches;
//	                                PATH may be an http:// URL of another server
//	Name: value                     a header; an empty value removes a default
//	show PATH, PATH, header NAME    values to record instead of the whole body; line TEXT: the lines
//	                                that contain TEXT; text: the body unchanged; none: no body
//	keep NAME = PATH                keeps a value of the response for {NAME}
//	BODY                            up to the response: JSON, YAML or any text; @file reads a file,
//	                                @"..." is a string literal of Go
//
// Headers, show, and let NAME = TEXT also apply to the following exchanges if they come before the
// first request or in a paragraph without one. A default show does not apply to errors and events.
// Other variables are {ns}, a namespace used only by this file, and the variables in Options.
//
// A body that starts with { or [ is sent as application/json, any other as application/yaml. A
// Content-Type header overrides this, and PATCH requires one. Requests are sent as the
// administrator. USER is impersonated, or authenticated if Options has a token for it. The user
// anonymous has no credentials.
//
// A PATH is a sequence of field names joined by dots. Field names may contain dots. A list index
// selects an item, and * selects all items: items.*.metadata.name.
//
// # Responses
//
// The first line has the code and, for an error, the reason. Warnings, a Content-Type other than
// JSON, and the body follow. For an error, the body is the message and the causes. The text of a
// cause is omitted if the message contains it. Other bodies and shown values are JSON, in several
// lines if it is long, or lines of text after "| ".
//
// A * replaces values that vary between runs: uid, resourceVersion, managedFields, addresses,
// tokens, generated names, times and UUIDs. It does not replace values that a request contains. A
// value that would be replaced or is listed in show is recorded as {NAME} if it equals a kept
// value. For example, metadata.resourceVersion: "{v}" checks that an object is unchanged, and
// items: {before} checks that a list is unchanged. If show lists metadata.managedFields, its
// entries are recorded, sorted by manager.
//
// # Watches
//
//	watch [NAME] PATH        starts a watch; until the end of the file it runs as NAME
//	events N [NAME]          records the next N events: type, name and shown fields
//	events end [NAME]        records the events until the server ends the watch
//
// Bookmarks are omitted, except the one that ends the initial events.
package transcript
