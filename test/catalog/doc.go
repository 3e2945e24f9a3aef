// Package catalog walks the resource catalogue row by row: for every rule of every field,
// what the server does with a value that keeps it and with one that breaks it.
//
// Its nouns:
//
//	row       one rule of the catalogue, with the requests that show it
//	table     testdata/<kind>.txt: the rows of a kind, and a minimal object of it
//	request   a line that begins with "$"
//	answer    the lines below a request: the code, then what was asked to be shown, or
//	          every cause of a refusal
//
// A table begins with the lines "kind <apiVersion> <Kind>" and "base <JSON>". A row begins
// with "## <what it says>" and has a new object of a name of its own. Its requests are
//
//	$ create [?query] PATCH [> PATHS]   POST the base, changed by the merge patch
//	$ update [?query] PATCH [> PATHS]   PUT the object as it is, changed by the patch
//	$ status [?query] PATCH [> PATHS]   the same to the sub-resource status
//	$ patch  [?query] PATCH [> PATHS]   PATCH with the merge patch
//	$ get    [?query] [> PATHS]         GET; after "@apiVersion" in another version
//	$ delete [?query] [> PATHS]         DELETE
//
// Tables of kinds that specification 2 leaves to the public API, such as pod.txt, hold what kube-apiserver 1.35.3 answers.
//
// PATHS are dotted paths to show of the answer. `go test ./catalog -update` writes the
// answers anew, for a reader to review.
package catalog
