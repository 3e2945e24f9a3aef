// Package api tests the API itself over HTTP: reads and writes, apply, formats, schemas, and the rules of each kind.
//
// The files of a topic begin with its name. The topics:
//
// # Apply
//
// These tests cover server-side apply and managed fields over HTTP: the owners of fields after each
// write, and the effect on the object. Most are transcripts in testdata/apply.
//
// # Catalog
//
// These tests walk the resource catalogue row by row: for every rule of every field,
// what the server does with a value that keeps it and with one that breaks it.
//
// Its nouns:
//
//	row       one rule of the catalogue, with the requests that show it
//	table     testdata/catalog/<kind>.txt: the rows of a kind, and a minimal object of it
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
// PATHS are dotted paths to show of the answer. `go test ./api -run TestRows -update` writes the
// answers anew, for a reader to review.
//
// # CBOR
//
// These tests hold the server's CBOR against the public serializer and against clients of the field that speak it.
//
// What clients may send is in body_test.go, what they get in answer_test.go; every kind in CBOR is a matter of package
// representation, and single values one of package codec.
//
// # Codec
//
// These tests compare the codecs of package kinds/codec with the public Go types:
// objects filled at random must become the same bytes, in JSON and in Protobuf, and be
// read back from the bytes of either side.
//
// # Conventions
//
// These tests check the conventions that all kinds share, statement by statement, over HTTP:
// the tables of get, list and watch cell by cell, continue tokens, watches, WebSockets,
// field validation and dry runs. COVERAGE.md maps statements to tests.
//
// Most are transcripts in testdata/conventions. A testServer is a daemon with the requests of the
// other tests.
//
// # Coverage
//
// These tests map lines of the specification to the tests that hold them. Each Markdown file here is one map:
// lines, what they are about in a few words, and tests, as a folder and names of functions. The test of the package holds
// the maps against the tests that exist.
//
// # Drift
//
// These tests compare the plan with the public Go types of the API: every field of
// every kind of the catalogue, with its JSON name, wire numbers, list type, merge key,
// and whether it is a pointer or left out when empty.
//
// # FeatureGates
//
// These tests test what each feature gate switches that has an effect, and holds the table of gates against
// the public libraries that declare them.
//
// # Kinds
//
// These tests ask a real daemon for what single kinds do beyond the conventions that all
// kinds share: their sub-resources, and the versions that share a storage.
//
// # OpenAPI
//
// These tests check what the daemon says of its kinds: that each document is what the
// gnostic models make of it, in JSON and in Protobuf, that clients' own loaders take it, and
// how it is served.
//
// # Ownership
//
// These tests compare kinds/managedfields with the public implementation of managed fields and
// server-side apply: the same random writes on every kind, through every version, the status and the
// scale sub-resource, must result in the same objects and the same managedFields. For custom
// resources, random objects are written over HTTP while their definitions change list types and map
// types (scenario).
//
// Known differences, which come from the Go types of the public implementation or from chance:
//
//   - Converting the public types adds lists that are never omitted, so an applier that changes its
//     version cannot remove them there. Such histories end at that point (comparison.diverged).
//   - It iterates over versions in random order, and some orders restore fields that were given up.
//     The oracle may apply several times until the results agree (maxAttempts).
//   - An update through the scale sub-resource may leave two entries of one manager in managedFields
//     there. The entries are joined before comparing.
//   - Inside an item of an atomic list, it takes a field that is never omitted, and was not applied,
//     for a change; and autoscaling/v1 cannot represent empty messages. Such objects are not
//     generated (ObjectGenerator).
//   - When a definition makes an object without declared fields atomic, it keeps the managed fields
//     below. Here the managers then own the whole object, and conflict (untyped). It cannot apply
//     objects that are atomic at the root.
//   - It sets an empty object, list or null in place of what the applier gives up only with the next
//     identical apply (explicit), and the second of two applies that own nothing begins to manage an
//     object without managers.
//   - It leaves a null where no field is declared and an applier has given up all fields of an
//     object (withoutNulls).
//
// # Patch
//
// These tests test patches: strategic merge patches against the public implementation of
// them, on random objects of every kind, and patches of all formats from outside, over HTTP.
//
// # Reference
//
// These tests play the recorded answers of the reference implementation against
// the real daemon, under the naming profile of existing clients.
//
// Its nouns:
//
//	recording  one file of testdata: a group of cases
//	step       one request of a case, and the answer it was given
//	player     the daemon, its administrator, and what earlier steps told it to remember
//	verdict    where an answer differs from the recorded one: hard differences, and
//	           soft ones of wording, which are only shown
//
// A case agrees, or it is listed in differs.go and docs/departures.md with its reason. A listed
// case that agrees fails the test, so the lists can only tell the truth.
//
// Left out of the comparison, because they differ by nature: the values (not the presence)
// of uids, resource versions, timestamps, continue tokens and addresses.
//
// # Representation
//
// These tests ask for an object of every kind in every representation: JSON,
// YAML, Protobuf, Table and PartialObjectMetadata, alone, in lists and in watches.
//
// Its nouns:
//
//	object          one object of every stored kind, from testdata/representation/objects.yaml
//	representation  what an Accept header asks for
//	table           testdata/representation/tables.txt: the columns and the row of every kind, as
//	                `go test ./api -run TestTables -update` writes them, for a reader to review
//
// The JSON of an object is what the others are compared with. Protobuf is decoded with the
// public Go types of the API, where this module requires them, else with our own codec.
//
// # Warnings
//
// These tests play what users of kubectl send, and compares the Warning headers of the answers with what
// the strategies of Kubernetes 1.35.3 return for the same objects.
//
// testdata/warnings/cases.json holds the objects, under the names of the profile kubernetes, and beside each the texts. They
// are what the strategies' own functions return (PrepareForCreate and WarningsOnCreate, or those of an update), in
// their order, each once; k8s.io/kubernetes cannot be imported by this module, so they have been recorded. Where the
// strategies range over a map, the texts are in the order of its keys.
package api
