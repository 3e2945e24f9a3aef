package api

import _ "embed"

//go:generate go run ../internal/gen

// Descriptors holds the compiled declarations. The package comment describes the format.
//
//go:embed descriptors.binpb
var Descriptors []byte
