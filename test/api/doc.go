// Package api tests the API over HTTP: reads and writes, apply, formats, schemas, and the rules of
// each kind.
//
// Each file name starts with one of the following topics.
//
// # Apply
//
// These tests cover server-side apply over HTTP: the effect of each write on the object and its
// field owners. Most are transcripts in testdata/apply.
//
// # Catalog
//
// These tests cover the resource catalog. For each rule of each field, they check the responses to
// a valid and an invalid value. Terms:
//
//	row       one rule of the catalog, with the requests that show it
//	table     testdata/catalog/<kind>.txt: the rows of a kind, and its minimal object
//	request   a line that begins with "$"
//	response  the lines below a request: the status code, then the requested paths, or
//	          all causes of an error
//
// A table starts with the lines "kind <apiVersion> <Kind>" and "base <JSON>". A row starts with "##
// <rule>" and uses its own new object. Its requests are:
//
//	$ create [?query] PATCH [> PATHS]   POST the base, changed by the merge patch
//	$ update [?query] PATCH [> PATHS]   PUT the current object, changed by the patch
//	$ status [?query] PATCH [> PATHS]   the same for the status subresource
//	$ patch  [?query] PATCH [> PATHS]   PATCH with the merge patch
//	$ get    [?query] [> PATHS]         GET; after "@apiVersion" in another version
//	$ delete [?query] [> PATHS]         DELETE
//
// Tables of kinds that specification 2 leaves to Kubernetes, such as pod.txt, contain the responses
// of kube-apiserver 1.37.2.
//
// PATHS are the dotted response paths to show. `go test ./api -run TestRows -update` rewrites the
// responses. Review the diff.
//
// # CBOR
//
// These tests compare the server's CBOR with the Kubernetes serializer's, and test CBOR clients.
// Representation covers every kind in CBOR, and Codec covers single values.
//
// # Codec
//
// These tests compare the codecs of package kinds/codec with the Go types of k8s.io/api. Random
// objects must be encoded to the same bytes in JSON and Protobuf, and each side must decode the
// other's bytes.
//
// # Conventions
//
// These tests check conventions shared by all kinds: combinations of options, continue tokens,
// watches, WebSockets, field validation and dry runs. COVERAGE.md maps the statements of the
// conventions to tests.
//
// Most are transcripts in testdata/conventions. The other tests use a testServer.
//
// # Coverage
//
// These tests check test/coverage/*.md, which map lines of the specification to tests. A row lists
// lines, their topic, and tests as a folder and function names. All tests must exist.
//
// # Drift
//
// These tests compare every field of every planned kind with the Go types of k8s.io/api: its JSON
// name, wire numbers, list type, merge key, and whether it is a pointer or omitted when empty.
//
// # FeatureGates
//
// These tests check the effects of feature gates, and compare the gates with their declarations in
// the Kubernetes libraries.
//
// # Kinds
//
// These tests cover behavior specific to a kind: subresources, and versions that share a storage
// version.
//
// # OpenAPI
//
// These tests check the OpenAPI documents in JSON and Protobuf. The gnostic models must parse them,
// and client loaders must accept them.
//
// # Ownership
//
// These tests compare kinds/managedfields with an oracle: the Kubernetes implementation of managed
// fields and server-side apply. The same random writes must result in the same objects and
// managedFields, for every kind, version, and the subresources status and scale. For custom
// resources, random objects are written over HTTP while their CRDs change list types and map types
// (scenario).
//
// The results differ in the following cases, due to the Kubernetes Go types or to chance:
//
//   - Converting the Go types adds lists that are never omitted, so an applier that changes its
//     version cannot remove them. Such histories end at that point
//     (ownershipComparison.diverged).
//   - The oracle iterates over versions in random order, and some orders restore fields that were
//     given up. The oracle may apply several times until the results agree (maxAttempts).
//   - In the oracle, an update through the scale subresource may leave a manager with two
//     entries. The entries are joined before comparing.
//   - Inside an item of an atomic list, the oracle reports a change of a field that is never
//     omitted but was not applied. Also, autoscaling/v1 cannot represent empty messages. Such
//     objects are not generated (ObjectGenerator).
//   - When a CRD makes an object without declared fields atomic, the oracle keeps the managed
//     fields below it. In this server, managers then own the whole object and conflict
//     (untyped). The oracle does not support objects that are atomic at the root.
//   - When an applier gives up fields, the oracle replaces them with an empty object, list or
//     null only at the next identical apply (explicit). If an object has no managers, an
//     applier that owns nothing becomes a manager only at its second apply.
//   - When an applier gives up all fields of an object without a schema, the oracle leaves a
//     null in its place (withoutNulls).
//
// # Patch
//
// These tests compare strategic merge patches of random objects of every kind with the Kubernetes
// implementation. They also test patches of all formats over HTTP.
//
// # Reference
//
// These tests replay requests recorded from the reference implementation and compare the responses,
// under the kubernetes naming profile. Terms:
//
//	recording   one file of testdata/reference: a group of cases
//	step        one request of a case, and the recorded response
//	player      the daemon, its administrator, and the values remembered from earlier steps
//	comparison  the differences of a response: hard differences, and soft differences in
//	            wording, which do not fail the test
//
// If the responses of a case differ, the case must be listed with a reason in differs and
// docs/departures.md. A listed case that agrees fails the test, so the lists stay accurate.
//
// UIDs, resourceVersions, timestamps, continue tokens and addresses always differ. Only their
// presence is compared.
//
// # Representation
//
// These tests request an object of every kind in JSON, YAML, Protobuf, Table and
// PartialObjectMetadata, alone, in lists and in watches. Terms:
//
//	object          one object of every stored kind, from testdata/representation/objects.yaml
//	representation  the format and shape selected by an Accept header
//	table           testdata/representation/tables.txt: the columns and the row of every kind;
//	                `go test ./api -run TestTables -update` rewrites it
//
// The other representations are compared with the JSON. Protobuf is decoded with the Go types of
// k8s.io/api if this module requires them, and with our own codec otherwise.
//
// # Warnings
//
// These tests compare the Warning headers of responses with the warnings of Kubernetes 1.37.3 for
// the same objects.
//
// testdata/warnings/cases.json contains the objects, under the kubernetes naming profile, and the
// warnings, in order and without duplicates. They were recorded by calling the Kubernetes
// strategies (PrepareForCreate and WarningsOnCreate, or the update functions), because this module
// cannot import k8s.io/kubernetes. Where a strategy ranges over a map, warnings are in key order.
package api
