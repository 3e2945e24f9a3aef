// Package proto holds the declarations of all kinds: one .proto file per family, the
// options that they use (options.proto), and what the generator makes of them.
//
// descriptors.binpb is a google.protobuf.FileDescriptorSet of every file but the
// options, imports first. What follows from the rest is left out: labels of single fields,
// types of messages, JSON names that are the field's. Of the source information only the
// leading comments are kept, which document kinds and fields: each file has one location
// without path or span, whose leading comment holds a line
//
//	<message>[.<field>] <text>
//
// for each, by index in the file and in the message. options.pb.go gives the options as
// Go types.
//
// Messages follow the public API types: field names are the JSON names, numbers are
// those of the wire. Repeated scalars are never packed there. Both files come from `make
// generate`.
package proto
