// Package warnings plays what users of kubectl send, and compares the Warning headers of the answers with what
// the strategies of Kubernetes 1.35.3 return for the same objects.
//
// testdata/cases.json holds the objects, under the names of the profile kubernetes, and beside each the texts. They
// are what the strategies' own functions return (PrepareForCreate and WarningsOnCreate, or those of an update), in
// their order, each once; k8s.io/kubernetes cannot be imported by this module, so they have been recorded. Where the
// strategies range over a map, the texts are in the order of its keys.
package warnings
