// Package transcript replays recorded HTTP exchanges and compares the answers of a server with the
// recorded ones. A folder below testdata holds the transcripts of a test, one file per topic:
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
// go test -run TestName -update ./suite writes everything from => on. Review what it wrote.
//
// # Requests
//
//	[until] [as USER] METHOD PATH   until repeats the request until the answer is the recorded one;
//	                                PATH may be an http:// URL of another server
//	Name: value                     a header; an empty value removes a default
//	show PATH, PATH, header NAME    what to record instead of the whole body; line TEXT: the lines
//	                                with a text; text: the body as it is; none: no body
//	keep NAME = PATH                keeps a value of the answer for {NAME}
//	BODY                            up to the answer: JSON, YAML or any text; @file reads a file,
//	                                @"..." is a string literal of Go
//
// Lines before the first request, and paragraphs without one, apply to the following exchanges:
// headers, show, and let NAME = TEXT. A default show does not apply to errors and events. Other
// variables are {ns}, a namespace that the file has to itself, and those of Options. A body that
// starts with { or [ is sent as application/json, any other as application/yaml, unless a
// Content-Type is given, as PATCH demands. Requests are sent as the administrator; USER is
// impersonated, or identified by a token of Options. The user anonymous has no credentials.
//
// A PATH is the names of nested fields joined by dots, which the names may contain, with indexes of
// lists or * for all items: items.*.metadata.name.
//
// # Answers
//
// The first line has the code and, for an error, the reason. Then follow warnings, a Content-Type
// other than JSON, and the body. Of errors it is the message and the causes, whose text is omitted
// if the message has it. Other bodies and shown values are JSON, in several lines if it is long, or
// lines of text after "| ".
//
// A * replaces values that differ from run to run: uid, resourceVersion, managedFields, addresses,
// tokens, generated names, times and UUIDs. They are kept if the requests contain them, and
// shown as {NAME} if they equal a value of keep, as is any value of show. So
// metadata.resourceVersion: "{v}" says that an object is unchanged, and items: {before} that a list
// is. A show of metadata.managedFields itself records them in the order of their managers.
//
// # Watches
//
//	watch [NAME] PATH        starts a watch; until the end of the file it runs as NAME
//	events N [NAME]          records the next N events: type, name and shown fields
//	events end [NAME]        records the events until the server ends the watch
//
// Bookmarks are omitted, except for the end of initial events.
package transcript
