// Package proto holds the declarations of all kinds: one .proto file per family, the
// options that they use (options.proto), and what the generator makes of them.
//
// descriptors.binpb is a google.protobuf.FileDescriptorSet of every file but the
// options, imports first. Of the source information only the leading comments are
// kept: a location has a path and a text, no span. They are the documentation of
// kinds and fields. options.pb.go gives the options as Go types.
//
// Messages follow the public API types: field names are the JSON names, numbers are
// those of the wire. Repeated scalars are never packed there. Both files come from `make
// generate`.
package proto
