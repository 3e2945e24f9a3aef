package proto

import _ "embed"

//go:generate go run ../gen

// Descriptors is the compiled form of the declarations, see the package comment.
//
//go:embed descriptors.binpb
var Descriptors []byte
