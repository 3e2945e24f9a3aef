package api

import _ "embed"

//go:generate go run ../internal/gen

// Descriptors is the compiled form of the declarations, see the package comment.
//
//go:embed descriptors.binpb
var Descriptors []byte
