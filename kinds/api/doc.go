// Package api declares the built-in kinds. Each API group has a folder with its declarations
// (.proto) and, if it needs code, a package with its strategies. options.proto defines the options
// of declarations. `make generate` derives declarations.binpb and options.pb.go from these files.
//
// declarations.binpb contains the messages of all files except options.proto, in the format that
// options.proto describes as Declarations. It omits implied properties: labels of singular fields,
// types of message fields, and JSON names that equal the field name.
//
// Messages follow the Kubernetes API types. Field names are the JSON names. Field numbers match the
// Kubernetes wire format, which never packs repeated scalars.
package api
