package api

import _ "embed"

//go:generate go run ../internal/gen

// Encoded holds all declarations in the format that options.proto describes.
//
//go:embed declarations.binpb
var Encoded []byte
